// fold_file: the file of the folded filter, without the filter in memory.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

class fold_file_of : public kind_test {
  protected:
    // The folded file equals the folded filter.
    void expect_equal(const subject& large, std::uint64_t factor, bool compress) {
        SCOPED_TRACE(k.describe(large.params()) + ", factor " + std::to_string(factor));
        save(large, in_, {.compress = compress, .durable = false}).value();
        const auto info =
            fold_file(in_, out_, factor, {.label = "folded", .compress = !compress, .durable = false});
        ASSERT_TRUE(info.has_value()) << info.error().message;
        const auto small = large.fold(factor).value();
        EXPECT_TRUE(k.load(out_).value() == small);
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
INSTANTIATE_TEST_SUITE_P(all, fold_file_of,
                         plain_subjects_that([](const facts& is) { return is.bits && is.foldable; }),
                         subject_names);

// Input and output of one chunk and of several; borders of blocks, slices and chunks that fall together and that do not.
TEST_P(fold_file_of, equals_the_fold_in_memory) {
    for (const std::uint64_t factor : {1u, 2u, 3u, 5u, 64u, 96u, 1000u}) {
        for (const std::uint64_t bytes : {page_size, chunk_size, 4 * chunk_size, 7 * chunk_size + 64}) {
            const auto chosen = parameters_of_bytes(k, bytes, factor);
            auto large = k.create(chosen).value();
            large.add_batch(random_hashes(static_cast<std::size_t>(large.size_bytes() / 16), factor));
            expect_equal(large, factor, factor % 2 == 1);
        }
    }
}

TEST_P(fold_file_of, every_variant) {
    for (const choice& chosen : k.variants(400'000, 1e-3)) {
        auto large = k.create(k.with_size(chosen, k.size_in(chosen) / 384 * 384 + 384)).value();
        large.add_batch(random_hashes(50'000, 2));
        for (const std::uint64_t factor : {2u, 3u, 6u}) expect_equal(large, factor, false);
    }
}

TEST_P(fold_file_of, onto_itself) {
    const auto large = filled(k, parameters_of_bytes(k, 3 * chunk_size, 4));
    save(large, in_, {.durable = false}).value();
    fold_file(in_, in_, 4, {.durable = false}).value();
    EXPECT_TRUE(k.load(in_).value() == large.fold(4).value());
    EXPECT_EQ(folder_.entries(), 1u);
}

TEST_P(fold_file_of, what_does_not_divide_is_refused_and_leaves_the_output) {
    const auto large = filled(k, parameters_of_bytes(k, page_size, 2));
    save(large, in_, {.durable = false}).value();
    save(large, out_, {.durable = false}).value();
    const std::string before = bytes_of(out_);
    for (const std::uint64_t factor : {std::uint64_t{0}, std::uint64_t{1'000'003}, ~std::uint64_t{0}}) {
        const auto refused = fold_file(in_, out_, factor);
        EXPECT_TRUE(fails_with(refused, error_code::invalid_argument, in_, std::to_string(factor)));
    }
    EXPECT_TRUE(fails_with(fold_file(folder_ / "none", out_, 2), error_code::io, "none"));
    EXPECT_TRUE(bytes_of(out_) == before);
    EXPECT_EQ(folder_.entries(), 2u);
}

} // namespace
} // namespace bouncer::test
