// A stored layer claims no more keys than its bits hold, so the size of the next one follows from what is there: a small
// file cannot make its reader reserve much. Every honest chain opens.
#include "snapshot/streams.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/hash_xxh.h>
#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>

#include <bit>
#include <cmath>

namespace bouncer::test {
namespace {

using chain = atomic_scalable_bloom;
using fields = std::vector<std::uint64_t>;

// Where the fields are, in a header and in a chain: docs/format.md.
constexpr std::size_t fields_at = 104, checksum_at = 4080;
constexpr std::size_t first_keys_at = 0, rate_at = 1, tightening_at = 2, growth_small_at = 3, growth_at = 4,
                      remaining_at = 7, blocks_at = 9, form_at = 10, capacity_at = 11, count_at = 12,
                      layer_rate_at = 13, per_layer = 5;

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

TEST(scalable_stored_capacity, beyond_the_bits_is_corrupt) {
    auto f = chain::create(scalable_parameters{.first_keys = 1'000}).value();
    f.add_batch(random_hashes(3'000, 121));
    ASSERT_EQ(f.layer_count(), 2u);
    std::vector<std::byte> bytes;
    save(f, into(bytes)).value();
    EXPECT_TRUE(load<chain>(out_of(bytes, 4096)));
    for (std::size_t layer = 0; layer < 2; ++layer) {
        const std::uint64_t honest = f.layers()[layer].capacity;
        for (const std::uint64_t claimed : {honest * 5 / 4, 2 * honest, std::uint64_t{1} << 24,
                                            std::uint64_t{1} << 32, std::uint64_t{1} << 48}) {
            auto bad = bytes;
            put(bad, fields_at + 8 * (capacity_at + layer * per_layer), claimed);
            put(bad, checksum_at, detail::xxh3_bytes(bad.data(), checksum_at, 0));
            const std::string where = "layer " + std::to_string(layer);
            EXPECT_TRUE(fails_with(load<chain>(out_of(bad, 4096)), error_code::corrupt, where.c_str(),
                                   "capacity", std::to_string(claimed).c_str()));
        }
    }
}

// A file of one layer of sectors2 that says that it is full, and how the chain goes on.
struct claim {
    std::uint64_t blocks = 64;
    std::uint64_t k = 8;
    std::uint64_t capacity = 0; // 0: what the layer holds
    double rate = 0.5;          // of the chain
    double remaining = 1e-3;
    std::uint64_t first_keys = 1'000;
    std::uint64_t growth = 16;
    double tightening = 0.5;

    result<plain_scalable_bloom> opened() const {
        const double spent = rate - remaining;
        const math::geometry shape{.blocks = blocks,
                                   .groups = 2,
                                   .sectors = 4,
                                   .sector_bits = 64,
                                   .bits_per_group = static_cast<std::uint32_t>(k / 2)};
        fields bad(blocks_at + per_layer);
        bad[first_keys_at] = first_keys;
        bad[rate_at] = std::bit_cast<std::uint64_t>(rate);
        bad[tightening_at] = std::bit_cast<std::uint64_t>(tightening);
        bad[growth_small_at] = bad[growth_at] = growth;
        bad[remaining_at] = std::bit_cast<std::uint64_t>(remaining);
        bad[8] = 1; // layers
        bad[blocks_at] = blocks;
        bad[form_at] = k | static_cast<std::uint64_t>(block_form::sectors2) << 32;
        bad[capacity_at] = capacity != 0 ? capacity : math::capacity(shape, spent);
        bad[count_at] = std::uint64_t{1} << 48;
        bad[layer_rate_at] = std::bit_cast<std::uint64_t>(spent);
        return detail::storage_access::for_loading<plain_scalable_bloom>(bad, {}, {});
    }
};

// The bytes after some adds; a loaded chain looks at its first.
std::uint64_t bytes_after_adds(plain_scalable_bloom& f) {
    for (std::uint64_t i = 0; i < 64; ++i) f.add(random_hash(122, i));
    return f.size_bytes();
}

// Rates near 1, the largest growth, a tiny rate that remains, a first layer that was "folded" from a huge one.
TEST(scalable_stored_capacity, a_small_file_reserves_little) {
    unsigned opened = 0;
    std::uint64_t most = 0;
    for (const double rate : {0.01, 0.99, 1 - 0x1p-50})
        for (const std::uint64_t k : {2u, 8u})
            for (const std::uint64_t growth : {16u, 1024u})
                for (const std::uint64_t first_keys : {1'000ul, 1ul << 40})
                    for (const double remaining : {1e-3, 1e-13, 1e-17})
                        for (const std::uint64_t forged : {0ul, 1ul << 24}) {
                            if (!whole_sizes && k == 2) continue;
                            auto f = claim{.k = k,
                                           .capacity = forged,
                                           .rate = rate,
                                           .remaining = remaining,
                                           .first_keys = first_keys,
                                           .growth = growth}
                                         .opened();
                            if (!f) continue;
                            ++opened;
                            most = std::max(most, bytes_after_adds(*f));
                        }
    EXPECT_GT(opened, 10u);
    EXPECT_GT(most, 64u * 64);               // some grew
    EXPECT_LE(most, std::uint64_t{2} << 20); // 520 MB where a capacity was believed
}

// Just above the rate at which hashes of 64 bits collide no number of bits is enough: 1.3 GB for 2032 keys.
TEST(scalable_stored_capacity, a_rate_that_hashes_hardly_keep_reserves_little) {
    const auto least = [](double keys) { return math::hash_collision_rate(keys); };
    const claim rows[] = {
        {.capacity = 127, .remaining = 2 * std::nextafter(least(2032), 1)},
        {.k = 2, .rate = 0.99, .remaining = 2 * least(524'288) * (1 + 1e-12)},
        {.k = 2, .rate = 0.99, .remaining = 2 * least(524'288) * (1 + 1e-8)},
    };
    for (const claim& row : rows) {
        auto f = row.opened();
        ASSERT_TRUE(f) << f.error().message;
        EXPECT_LE(bytes_after_adds(*f), std::uint64_t{2} << 20);
        ASSERT_TRUE(f->growth_refused());
        EXPECT_EQ(f->growth_refused()->code, error_code::full) << f->growth_refused()->message;
        // The forecast knows it too: what comes goes into the layer there is.
        EXPECT_DOUBLE_EQ(f->fpr_at(1 << 20), math::fpr(f->layer(0).shape(), 1 << 20));
    }
}

// Nor do several growths in turn, each next to that rate: a tightening of nearly 1 keeps the rates of all layers alike. 64
// times the bytes of the layers before were 169 MiB after the third.
TEST(scalable_stored_capacity, layers_that_hashes_hardly_keep_do_not_add_up) {
    constexpr std::uint64_t keys = 96;
    std::uint64_t most = 0;
    unsigned opened = 0;
    for (const double loosened : {1e-11, 1e-10})
        for (const double above : {2.3e-16, 7e-16, 1e-15, 2e-15, 1e-14, 1e-13}) {
            const double tightening = 1 - loosened;
            const double next = math::hash_collision_rate(keys) * (1 + above) / (tightening * tightening);
            auto f = claim{.k = 2,
                           .capacity = keys,
                           .rate = 0.99,
                           .remaining = next / (1 - tightening),
                           .first_keys = keys,
                           .growth = 1,
                           .tightening = tightening}
                         .opened();
            ASSERT_TRUE(f) << f.error().message;
            ++opened;
            for (std::uint64_t i = 0; i < 4 * keys; ++i) f->add(random_hash(127, i));
            most = std::max(most, f->size_bytes());
        }
    EXPECT_EQ(opened, 12u);
    EXPECT_LE(most, std::uint64_t{2} << 20);
}

// Compressed, a MiB of zero bits is a small file. It says that it holds few keys, so the next layer of its form is large:
// at the first of these rates above 256 bytes a key, and refused. At the others another form does better, and is taken.
TEST(scalable_stored_capacity, a_sparse_layer_reserves_little) {
    constexpr std::uint64_t blocks = 1 << 14;
    constexpr std::uint64_t capacity = 4096;
    constexpr std::uint64_t growth = 16;
    unsigned grew = 0;
    for (const double next : {1.6e-4, 6e-5, 2e-5, 3e-6}) {
        auto f =
            claim{.blocks = blocks, .k = 2, .capacity = capacity, .remaining = 2 * next, .growth = growth}
                .opened();
        ASSERT_TRUE(f) << f.error().message;
        const std::uint64_t bytes = bytes_after_adds(*f);
        EXPECT_LE(bytes, blocks * 64 + growth * capacity * 256) << next;
        grew += bytes > blocks * 64;
        EXPECT_EQ(f->growth_refused().has_value(), bytes == blocks * 64);
    }
    EXPECT_EQ(grew, 3u);
}

// A plan ends where growth would.
TEST(scalable_stored_capacity, a_plan_knows_the_largest_layer) {
    const double rate = 4 * std::nextafter(math::hash_collision_rate(2032), 1);
    const scalable_parameters chosen{
        .first_keys = 127, .rate = rate, .tightening = 0.5, .growth_small = 16, .growth = 16};
    EXPECT_EQ(chain::plan(chosen, 127).value().size(), 1u);
    EXPECT_TRUE(fails_with(chain::plan(chosen, 2'000), error_code::full, "64 times"));
}

// What a copy claims is math::capacity, whatever the form: it must be taken back, or a saved union would not open.
TEST(scalable_stored_capacity, what_a_copy_claims_is_taken_back) {
    unsigned seen = 0;
    for (std::uint32_t form = 0; form < 16; ++form)
        for (std::uint32_t k = 1; k <= 16; k += whole_sizes ? 1 : 5) {
            const chain::filter_type::parameters chosen{64, k, static_cast<block_form>(form)};
            if (!chain::filter_type::check(chosen)) continue;
            const auto shape = chain::filter_type::layout_type(chosen).shape();
            for (double rate = 1e-6; rate < 1; rate = rate < 0.02 ? rate * 10 : rate + 0.03) {
                const std::uint64_t capacity = math::capacity(shape, rate);
                if (capacity == 0) continue;
                ++seen;
                const auto ok = detail::check_stored_capacity(shape, capacity, rate);
                EXPECT_TRUE(ok) << chain::filter_type::describe(chosen) << ": " << ok.error().message;
                EXPECT_FALSE(detail::check_stored_capacity(shape, capacity * 5 / 4 + 8, rate))
                    << chain::filter_type::describe(chosen) << ", " << capacity << " at " << rate;
            }
        }
    EXPECT_GT(seen, whole_sizes ? 400u : 100u);
}

void expect_opens(const chain& f, const char* what) {
    const auto words = detail::storage_access::words<chain>(detail::storage_access::stored(f).fields);
    EXPECT_TRUE(words) << what << ", " << f.describe() << ": " << words.error().message;
}

TEST(scalable_stored_capacity, honest_chains_open) {
    unsigned merges = 0;
    unsigned copies = 0;
    const auto merge = [&](chain& into, const chain& from) {
        const std::uint32_t before = into.layer_count();
        if (!into.merge(from)) return;
        ++merges;
        copies += into.layer_count() > before;
        expect_opens(into, "merged");
    };
    for (const std::uint64_t first_keys : {1u, 7u, 100u, 3'000u})
        for (const double rate : {0.9, 0.01, 1e-6})
            for (const enum prefer how : {prefer::reads, prefer::adds, prefer::space}) {
                if (!whole_sizes && (how == prefer::adds || first_keys == 7)) continue;
                auto f = chain::create(scalable_parameters{.first_keys = first_keys,
                                                           .rate = rate,
                                                           .tightening = how == prefer::space ? 0.5 : 0.85,
                                                           .prefer = how})
                             .value();
                expect_opens(f, "empty");
                f.add(random_hash(123, 0));
                expect_opens(f.fold_newest().value(), "folded with one key");
                f.add_batch(random_hashes(6 * first_keys, 123, 1));
                expect_opens(f, "grown");
                expect_opens(f.fold_newest().value(), "folded");
                // Unions with a chain of one key, of some, and of as many.
                for (const std::uint64_t keys : {std::uint64_t{1}, first_keys, 2 * first_keys}) {
                    auto other = chain::create(f.params()).value();
                    other.add_batch(random_hashes(keys, 124, 10 * first_keys));
                    auto both = other.clone().value();
                    merge(both, f);
                    merge(f, other);
                }
            }
    EXPECT_GT(merges, whole_sizes ? 100u : 40u); // of 216 and 108
    EXPECT_GT(copies, whole_sizes ? 20u : 5u);
}

// Planned without memory, so as large as they come.
TEST(scalable_stored_capacity, planned_layers_hold_what_they_claim) {
    for (const double rate : {0.05, 0.01, 1e-4})
        for (const enum prefer how : {prefer::reads, prefer::space}) {
            const scalable_parameters chosen{.first_keys = 10'000, .rate = rate, .prefer = how};
            const auto planned = chain::plan(chosen, 3'000'000'000).value();
            for (const auto& layer : planned)
                EXPECT_LE(math::fpr(chain::filter_type::layout_type(layer.filter).shape(),
                                    static_cast<double>(layer.capacity)),
                          layer.rate)
                    << layer.capacity;
        }
}

// After a folded first layer the chain is soon as large as it would have been, where layers are equal too.
TEST(scalable_stored_capacity, a_folded_chain_grows_as_the_whole) {
    for (const std::uint64_t first_keys : {10'000u, 100'000u}) {
        auto f = chain::create(scalable_parameters{.first_keys = first_keys, .growth_small = 1, .growth = 1})
                     .value();
        f.add_batch(random_hashes(first_keys / 100, 125));
        auto folded = f.fold_newest().value();
        ASSERT_LT(folded.layers()[0].capacity, first_keys / 16);
        folded.add_batch(random_hashes(3 * first_keys, 126));
        const auto layers = folded.layers();
        ASSERT_GE(layers.size(), 4u);
        for (std::size_t i = 2; i < layers.size(); ++i) EXPECT_EQ(layers[i].capacity, first_keys);
    }
}

} // namespace
} // namespace bouncer::test
