// A filter that went through a file or a stream is the same filter: parameters, hash, every bit.
#include "format/compression.h"
#include "snapshot/files.h"
#include "snapshot/streams.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

// Compressed too, where the library has zstd.
std::vector<bool> ways() {
    if (detail::check_compression()) return {false, true};
    return {false};
}

class round_trip : public kind_test {
  protected:
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
};
INSTANTIATE_TEST_SUITE_P(all, round_trip,
                         subjects_that([](const facts& is) { return is.incremental && is.loadable; }),
                         subject_names);

TEST_P(round_trip, by_file_in_every_variant) {
    const auto hashes = random_hashes(1'000, 1);
    for (const double rate : {0.1, 1e-4}) {
        for (const auto& chosen : k.variants(1'000, rate)) {
            for (const bool compress : ways()) {
                SCOPED_TRACE(k.describe(chosen) + (compress ? ", compressed" : ""));
                auto f = k.create(chosen).value();
                f.add_batch(hashes);
                save(f, path_, {.compress = compress, .durable = false}).value();
                auto same = k.load(path_);
                ASSERT_TRUE(same.has_value()) << same.error().message;
                EXPECT_TRUE(*same == f);
                auto other = k.other().load(path_);
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

TEST_P(round_trip, empty_and_full) {
    for (const std::uint64_t keys : {0u, 100'000u}) {
        auto f = k.create(goal{.keys = 100, .false_positive_rate = 0.5}).value();
        f.add_batch(random_hashes(keys, 1));
        for (const bool compress : ways()) {
            save(f, path_, {.compress = compress, .durable = false}).value();
            EXPECT_TRUE(k.load(path_).value() == f);
        }
    }
}

TEST_P(round_trip, by_stream_in_odd_pieces) {
    auto f = k.create(goal{.keys = 10'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(10'000, 1));
    for (const bool compress : ways()) {
        std::vector<std::byte> bytes;
        save(f, into(bytes), {.compress = compress}).value();
        for (const std::size_t piece : {1u, 7u, 4095u, 4097u, 1u << 30}) {
            const auto same = k.load(out_of(bytes, piece));
            ASSERT_TRUE(same.has_value()) << piece << ": " << same.error().message;
            EXPECT_TRUE(*same == f) << piece;
        }
    }
}

class mapped_round_trip : public round_trip {};
INSTANTIATE_TEST_SUITE_P(all, mapped_round_trip,
                         plain_subjects_that([](const facts& is) { return is.incremental && is.mappable; }),
                         subject_names);

TEST_P(mapped_round_trip, as_a_view_of_the_file) {
    auto f = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(1'000, 1));
    save(f, path_, {.durable = false}).value();
    for (const auto how : {verification::lazy, verification::eager}) {
        const auto v = k.map(path_, how);
        ASSERT_TRUE(v.has_value()) << v.error().message;
        EXPECT_TRUE(*v == f);
        const auto asked = random_hashes(10'000, 2);
        answers of_view(asked.size());
        answers of_filter(asked.size());
        EXPECT_EQ(v->may_contain(asked, of_view.span()), f.may_contain(asked, of_filter.span()));
        for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(of_view[i], of_filter[i]);
    }
    // A view can be saved again.
    const auto v = k.map(path_).value();
    save(v, folder_ / "again", {.durable = false}).value();
    EXPECT_TRUE(k.load(folder_ / "again").value() == f);
}

class shared_round_trip : public round_trip {};
INSTANTIATE_TEST_SUITE_P(all, shared_round_trip, atomic_subjects_that(&facts::shareable), subject_names);

TEST_P(shared_round_trip, is_seen_and_sealed) {
    auto f = k.create(goal{.keys = 1'000, .false_positive_rate = 0.01}).value();
    f.add_batch(random_hashes(500, 1));
    save(f, path_, {.durable = false}).value();
    const auto more = random_hashes(500, 2);
    f.add_batch(more);
    {
        auto shared = k.open_shared(path_);
        ASSERT_TRUE(shared.has_value()) << shared.error().message;
        for (const std::uint64_t hash : more) (*shared)->add(hash);
        EXPECT_TRUE(**shared == f);
        shared->sync().value();
        EXPECT_EQ(verify(path_).value().state, file_state::live);
        EXPECT_TRUE(k.load(path_).value() == f) << "while it is live";
        shared->seal().value();
    }
    EXPECT_EQ(verify(path_).value().state, file_state::sealed);
    EXPECT_TRUE(k.load(path_).value() == f);
}

} // namespace
} // namespace bouncer::test
