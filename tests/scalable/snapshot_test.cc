// Chains in files: saved, loaded, mapped, and fields that nobody wrote.
#include "snapshot/files.h"
#include "snapshot/streams.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/scalable.h>
#include <bouncer/snapshot.h>

#include <bit>
#include <limits>

namespace bouncer::test {
namespace {

using fields = std::vector<std::uint64_t>;

template <class F>
F some_chain(std::size_t keys = 30'000) {
    auto f = F::create(scalable_parameters{.first_keys = 1'000, .rate = 0.01}).value();
    f.add_batch(random_hashes(keys, 81));
    return f;
}

TEST(scalable_snapshot, round_trip) {
    const scratch_folder folder;
    const auto f = some_chain<atomic_scalable_bloom>();
    for (const bool compress : {false, true}) {
        save(f, folder / "f", {.compress = compress}).value();
        auto loaded = load<atomic_scalable_bloom>(folder / "f").value();
        EXPECT_TRUE(loaded == f);
        EXPECT_EQ(loaded.params(), f.params());
        ASSERT_EQ(loaded.layer_count(), f.layer_count());
        for (std::size_t i = 0; i < f.layers().size(); ++i) {
            EXPECT_EQ(loaded.layers()[i].keys, f.layers()[i].keys);
            EXPECT_EQ(loaded.layers()[i].capacity, f.layers()[i].capacity);
            EXPECT_DOUBLE_EQ(loaded.layers()[i].promised_rate, f.layers()[i].promised_rate);
        }
        EXPECT_TRUE(load<plain_scalable_bloom>(folder / "f").value() == f);
        // What is loaded grows on as the chain itself would.
        auto same = f.clone().value();
        const auto more = random_hashes(100'000, 82);
        same.add_batch(more);
        loaded.add_batch(more);
        EXPECT_TRUE(same == loaded);
        EXPECT_TRUE(loaded.promise_holds());
    }
}

TEST(scalable_snapshot, full_but_for_one_key) {
    const scratch_folder folder;
    for (const std::uint64_t first_keys : {1u, 500u}) {
        auto f = atomic_scalable_bloom::create(scalable_parameters{.first_keys = first_keys, .rate = 0.001})
                     .value();
        std::uint64_t i = 0;
        while (f.changing_adds() + 1 < first_keys) f.add(random_hash(83, i++));
        save(f, folder / "f").value();
        auto loaded = load<plain_scalable_bloom>(folder / "f").value();
        for (const std::uint64_t most = i + 2; i < most; ++i) {
            f.add(random_hash(83, i));
            loaded.add(random_hash(83, i));
        }
        ASSERT_EQ(f.layer_count(), 2u);
        EXPECT_TRUE(loaded == f) << first_keys;
    }
}

TEST(scalable_snapshot, mapped) {
    const scratch_folder folder;
    const auto f = some_chain<plain_scalable_bloom>();
    save(f, folder / "f").value();
    for (const verification how : {verification::lazy, verification::eager}) {
        const auto view = map<scalable_bloom_view>(folder / "f", how).value();
        EXPECT_TRUE(view == f);
        EXPECT_EQ(view.changing_adds(), f.changing_adds());
        answers there(30'000);
        EXPECT_EQ(view.may_contain(random_hashes(30'000, 81), there.span()), 30'000u);
        EXPECT_DOUBLE_EQ(view.expected_fpr(), f.expected_fpr());
        EXPECT_TRUE(view.clone<atomic_words>().value() == f);
    }
}

TEST(scalable_snapshot, folded_and_merged_chains) {
    std::vector<std::byte> bytes;
    const auto f = some_chain<atomic_scalable_bloom>();
    auto folded = f.fold_newest().value();
    EXPECT_LT(folded.size_bytes(), f.size_bytes());
    save(folded, into(bytes)).value();
    EXPECT_TRUE(load<atomic_scalable_bloom>(out_of(bytes, 1'000)).value() == folded);

    auto merged = some_chain<atomic_scalable_bloom>(900);
    auto other = atomic_scalable_bloom::create(merged.params()).value();
    other.add_batch(random_hashes(2'000, 83));
    ASSERT_TRUE(merged.merge(other));
    ASSERT_GT(merged.layer_count(), 1u);
    bytes.clear();
    save(merged, into(bytes)).value();
    EXPECT_TRUE(load<atomic_scalable_bloom>(out_of(bytes, 5'000)).value() == merged);
}

TEST(scalable_snapshot, all_64_layers_fit_a_header) {
    const scratch_folder folder;
    auto f = plain_scalable_bloom::create(
                 scalable_parameters{
                     .first_keys = 5'000, .rate = 0.05, .tightening = 0.95, .growth_small = 1, .growth = 1})
                 .value();
    f.add_batch(random_hashes(66 * 5'000, 84)); // some are false positives
    ASSERT_EQ(f.layer_count(), 64u);
    EXPECT_LE(detail::storage_access::stored(f).fields.size(), 367u);
    save(f, folder / "f", {.label = std::string(1'024, 'x')}).value();
    EXPECT_TRUE(load<plain_scalable_bloom>(folder / "f").value() == f);
    EXPECT_TRUE(map<scalable_bloom_view>(folder / "f").value() == f);
}

class scalable_fields : public ::testing::Test {
  protected:
    const fields good = detail::storage_access::stored(some_chain<plain_scalable_bloom>()).fields;
    static constexpr std::size_t head = 9;
    static constexpr std::size_t per_layer = 5;

    void refused(std::size_t at, std::uint64_t value, error_code code = error_code::invalid_argument) const {
        fields bad = good;
        bad[at] = value;
        EXPECT_TRUE(fails_with(detail::storage_access::words<plain_scalable_bloom>(bad), code))
            << at << " = " << value;
        EXPECT_FALSE(detail::storage_access::for_loading<plain_scalable_bloom>(bad, {}, {}))
            << at << " = " << value;
        EXPECT_FALSE(detail::storage_access::over<scalable_bloom_view>(region(), bad, {}))
            << at << " = " << value;
    }
};

TEST_F(scalable_fields, are_what_was_saved) {
    const auto f = some_chain<plain_scalable_bloom>();
    EXPECT_EQ(good.size(), head + per_layer * f.layer_count());
    EXPECT_EQ(detail::storage_access::words<plain_scalable_bloom>(good).value() * 8,
              plain_scalable_bloom(f.clone().value()).size_bytes());
}

TEST_F(scalable_fields, hostile_ones_are_refused) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double value : {0.0, 1.0, -0.1, 5.0, nan, -nan, infinity, -infinity}) {
        refused(1, bits(value));                        // rate
        refused(2, bits(value));                        // tightening
        refused(7, bits(value));                        // remaining
        refused(head + per_layer - 1, bits(value));     // rate of the first layer
        refused(head + 2 * per_layer - 1, bits(value)); // of the second
    }
    refused(7, bits(0.009)); // more remains than the layers left
    refused(head + per_layer - 1, bits(0.5));
    refused(0, 0);
    refused(0, ~std::uint64_t{0}, error_code::too_large);
    for (const std::uint64_t growth : {std::uint64_t{0}, std::uint64_t{17}, std::uint64_t{1} << 32})
        refused(3, growth), refused(4, growth);
    refused(5, ~std::uint64_t{0}, error_code::too_large);
    for (const std::uint64_t prefer : {std::uint64_t{3}, std::uint64_t{256}, ~std::uint64_t{0}})
        refused(6, prefer);
    for (const std::uint64_t layers : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{64},
                                       std::uint64_t{65}, std::uint64_t{1} << 32, ~std::uint64_t{0}})
        refused(8, layers);
    refused(head, 0); // blocks
    refused(head, ~std::uint64_t{0}, error_code::too_large);
    refused(head + 1, 0);                           // k 0
    refused(head + 1, 8 | std::uint64_t{77} << 32); // an unknown form
    refused(head + 1, ~std::uint64_t{0});
    refused(head + 2, 0); // capacity
    refused(head + 2, (std::uint64_t{1} << 48) + 1);
    refused(head + 3, ~std::uint64_t{0}); // count
    fields bad = good;
    bad.pop_back();
    EXPECT_FALSE(detail::storage_access::words<plain_scalable_bloom>(bad));
    bad.resize(5);
    EXPECT_FALSE(detail::storage_access::words<plain_scalable_bloom>(bad));
    EXPECT_FALSE(detail::storage_access::words<plain_scalable_bloom>({}));
    bad = good;
    bad.push_back(0);
    EXPECT_FALSE(detail::storage_access::words<plain_scalable_bloom>(bad));
}

TEST_F(scalable_fields, sums_beyond_the_limit) {
    fields bad = good;
    for (const std::size_t layer : {0u, 1u})
        bad[head + layer * per_layer] = std::uint64_t{1} << 41; // 2^44 words
    EXPECT_TRUE(fails_with(detail::storage_access::words<plain_scalable_bloom>(bad), error_code::too_large));
    // Within the limit of the layout, beyond that of the machine: refused before anything is allocated.
    bad = good;
    for (const std::size_t layer : {0u, 1u}) bad[head + layer * per_layer] = std::uint64_t{1} << 39;
    EXPECT_TRUE(detail::storage_access::words<plain_scalable_bloom>(bad));
    EXPECT_TRUE(fails_with(detail::storage_access::for_loading<plain_scalable_bloom>(bad, {}, {}),
                           error_code::too_large));
}

TEST_F(scalable_fields, memory_that_is_too_small) {
    const auto f = some_chain<plain_scalable_bloom>();
    alignas(64) static const std::uint64_t few[8] = {};
    EXPECT_TRUE(fails_with(
        detail::storage_access::over<scalable_bloom_view>(region::borrow(few, sizeof few), good, {}),
        error_code::corrupt, "8"));
}

} // namespace
} // namespace bouncer::test
