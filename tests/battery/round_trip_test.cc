// A filter that went through a file or a stream is the same filter: parameters, hash, every bit.
#include "format/compression.h"
#include "snapshot/files.h"
#include "snapshot/streams.h"
#include "support/kinds.h"
#include "support/random_hashes.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

// Compressed too, where the library has zstd.
std::vector<bool> ways() {
    if (detail::check_compression()) return {false, true};
    return {false};
}

template <class F>
struct is_loadable : std::bool_constant<incremental<F> && bouncer::detail::loadable<F>> {};

template <class F>
class round_trip : public ::testing::Test {
  protected:
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
};
TYPED_TEST_SUITE(round_trip, kinds_that<is_loadable>, kind_names);

TYPED_TEST(round_trip, by_file_in_every_variant) {
    const auto hashes = random_hashes(1'000, 1);
    for (const double rate : {0.1, 1e-4}) {
        for (const auto& chosen : variants<TypeParam>(1'000, rate)) {
            for (const bool compress : ways()) {
                SCOPED_TRACE(describe<TypeParam>(chosen) + (compress ? ", compressed" : ""));
                auto f = TypeParam::create(chosen).value();
                f.add_batch(hashes);
                save(f, this->path_, {.compress = compress, .durable = false}).value();
                auto same = load<TypeParam>(this->path_);
                ASSERT_TRUE(same.has_value()) << same.error().message;
                EXPECT_TRUE(*same == f);
                auto other = load<other_form<TypeParam>>(this->path_);
                ASSERT_TRUE(other.has_value()) << other.error().message;
                EXPECT_TRUE(*other == f);
                // It is a filter like any other: it takes new keys.
                const auto more = random_hashes(100, 2);
                same->add_batch(more);
                f.add_batch(more);
                EXPECT_TRUE(*same == f);
            }
        }
    }
}

TYPED_TEST(round_trip, empty_and_full) {
    for (const std::uint64_t keys : {0u, 100'000u}) {
        auto f = TypeParam::create({.keys = 100, .false_positive_rate = 0.5}).value();
        f.add_batch(random_hashes(keys, 1));
        for (const bool compress : ways()) {
            save(f, this->path_, {.compress = compress, .durable = false}).value();
            EXPECT_TRUE(load<TypeParam>(this->path_).value() == f);
        }
    }
}

TYPED_TEST(round_trip, by_stream_in_odd_pieces) {
    auto f = TypeParam::create({.keys = 10'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(10'000, 1));
    for (const bool compress : ways()) {
        std::vector<std::byte> bytes;
        save(f, into(bytes), {.compress = compress}).value();
        for (const std::size_t piece : {1u, 7u, 4095u, 4097u, 1u << 30}) {
            const auto same = load<TypeParam>(out_of(bytes, piece));
            ASSERT_TRUE(same.has_value()) << piece << ": " << same.error().message;
            EXPECT_TRUE(*same == f) << piece;
        }
    }
}

template <class F>
struct is_mappable : std::bool_constant<incremental<F> && bouncer::detail::mappable<view_form<F>>> {};
template <class F>
class mapped_round_trip : public round_trip<F> {};
TYPED_TEST_SUITE(mapped_round_trip, plain_kinds_that<is_mappable>, kind_names);

TYPED_TEST(mapped_round_trip, as_a_view_of_the_file) {
    auto f = TypeParam::create({.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    save(f, this->path_, {.durable = false}).value();
    for (const auto how : {verification::lazy, verification::eager}) {
        const auto v = bouncer::map<view_form<TypeParam>>(this->path_, how);
        ASSERT_TRUE(v.has_value()) << v.error().message;
        EXPECT_TRUE(*v == f);
        const auto asked = random_hashes(10'000, 2);
        answers of_view(asked.size());
        answers of_filter(asked.size());
        EXPECT_EQ(v->may_contain(asked, of_view.span()), f.may_contain(asked, of_filter.span()));
        for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(of_view[i], of_filter[i]);
    }
    // A view can be saved again.
    const auto v = bouncer::map<view_form<TypeParam>>(this->path_).value();
    save(v, this->folder_ / "again", {.durable = false}).value();
    EXPECT_TRUE(load<TypeParam>(this->folder_ / "again").value() == f);
}

template <class F>
struct is_shareable : std::bool_constant<bouncer::detail::shareable<F>> {};
template <class F>
class shared_round_trip : public round_trip<F> {};
TYPED_TEST_SUITE(shared_round_trip, atomic_kinds_that<is_shareable>, kind_names);

TYPED_TEST(shared_round_trip, is_seen_and_sealed) {
    auto f = TypeParam::create({.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(500, 1));
    save(f, this->path_, {.durable = false}).value();
    const auto more = random_hashes(500, 2);
    f.add_batch(more);
    {
        auto shared = open_shared<TypeParam>(this->path_);
        ASSERT_TRUE(shared.has_value()) << shared.error().message;
        for (const std::uint64_t hash : more) (*shared)->add(hash);
        EXPECT_TRUE(**shared == f);
        shared->sync().value();
        EXPECT_EQ(verify(this->path_).value().state, file_state::live);
        EXPECT_TRUE(load<TypeParam>(this->path_).value() == f) << "while it is live";
        shared->seal().value();
    }
    EXPECT_EQ(verify(this->path_).value().state, file_state::sealed);
    EXPECT_TRUE(load<TypeParam>(this->path_).value() == f);
}

} // namespace
} // namespace bouncer::test
