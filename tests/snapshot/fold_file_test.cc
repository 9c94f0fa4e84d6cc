// fold_file: the file of the folded filter, without the filter in memory.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

template <class F>
class fold_file_of : public ::testing::Test {
  protected:
    // The folded file equals the folded filter.
    void expect_equal(const F& large, std::uint64_t factor, bool compress) {
        SCOPED_TRACE(describe<F>(large.params()) + ", factor " + std::to_string(factor));
        save(large, in_, {.compress = compress, .durable = false}).value();
        const auto info =
            fold_file(in_, out_, factor, {.label = "folded", .compress = !compress, .durable = false});
        ASSERT_TRUE(info.has_value()) << info.error().message;
        const auto small = large.fold(factor).value();
        EXPECT_TRUE(load<F>(out_).value() == small);
        const auto stored = verify(out_).value();
        EXPECT_EQ(stored.label, "folded");
        EXPECT_EQ(stored.compressed, !compress);
        EXPECT_EQ(stored.payload_bytes * factor, large.size_bytes());
        EXPECT_EQ(stored.hash, large.hash());
        EXPECT_EQ(stored.id, info->id);
    }
    scratch_folder folder_;
    std::string in_ = folder_ / "in";
    std::string out_ = folder_ / "out";
};
TYPED_TEST_SUITE(fold_file_of, plain_kinds_that<is_foldable_bit_filter>, kind_names);

// Input and output of one chunk and of several; borders of blocks, slices and chunks that fall together and that do not.
TYPED_TEST(fold_file_of, equals_the_fold_in_memory) {
    for (const std::uint64_t factor : {1u, 2u, 3u, 5u, 64u, 96u, 1000u}) {
        for (const std::uint64_t bytes : {page_size, chunk_size, 4 * chunk_size, 7 * chunk_size + 64}) {
            const auto chosen = parameters_of_bytes<TypeParam>(bytes, factor);
            auto large = TypeParam::create(chosen).value();
            large.add_batch(random_hashes(static_cast<std::size_t>(large.size_bytes() / 16), factor));
            this->expect_equal(large, factor, factor % 2 == 1);
        }
    }
}

TYPED_TEST(fold_file_of, every_variant) {
    for (auto chosen : variants<TypeParam>(400'000, 1e-3)) {
        size_parameter(chosen) = size_parameter(chosen) / 384 * 384 + 384;
        auto large = TypeParam::create(chosen).value();
        large.add_batch(random_hashes(50'000, 2));
        for (const std::uint64_t factor : {2u, 3u, 6u}) this->expect_equal(large, factor, false);
    }
}

TYPED_TEST(fold_file_of, onto_itself) {
    const auto large = filled<TypeParam>(parameters_of_bytes<TypeParam>(3 * chunk_size, 4));
    save(large, this->in_, {.durable = false}).value();
    fold_file(this->in_, this->in_, 4, {.durable = false}).value();
    EXPECT_TRUE(load<TypeParam>(this->in_).value() == large.fold(4).value());
    EXPECT_EQ(this->folder_.entries(), 1u);
}

TYPED_TEST(fold_file_of, what_does_not_divide_is_refused_and_leaves_the_output) {
    const auto large = filled<TypeParam>(parameters_of_bytes<TypeParam>(page_size, 2));
    save(large, this->in_, {.durable = false}).value();
    save(large, this->out_, {.durable = false}).value();
    const std::string before = bytes_of(this->out_);
    for (const std::uint64_t factor : {std::uint64_t{0}, std::uint64_t{1'000'003}, ~std::uint64_t{0}}) {
        const auto refused = fold_file(this->in_, this->out_, factor);
        EXPECT_TRUE(fails_with(refused, error_code::invalid_argument, this->in_, std::to_string(factor)));
    }
    EXPECT_TRUE(fails_with(fold_file(this->folder_ / "none", this->out_, 2), error_code::io, "none"));
    EXPECT_TRUE(bytes_of(this->out_) == before);
    EXPECT_EQ(this->folder_.entries(), 2u);
}

} // namespace
} // namespace bouncer::test
