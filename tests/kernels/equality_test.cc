// Every kernel that this processor can run or that can be imitated does as the scalar specification does.
#include "kernels/comparisons.h"
#include "kernels/reference.h"
#include "kernels/tested_tables.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace bouncer::test {
namespace {

constexpr std::uint64_t few_blocks = 1'000;
constexpr std::uint64_t many_blocks = 20'000; // a kernel may treat what is in L1 and L2 otherwise

// work(entry, share of the random keys) for every table that has the entry.
template <class Entry, class Work>
void for_each_table(Entry entry, Work work) {
    for (const named_table& each : all_tables()) {
        const auto kernel = entry(*each.table);
        if (kernel == nullptr) continue; // the scalar loop over the specification serves
        SCOPED_TRACE(each.name);
        work(kernel, each.share);
    }
}

class of_layout : public ::testing::TestWithParam<reference> {};
constexpr auto name_of_layout = [](const auto& info) { return info.param.name; };

// The layouts that have an entry of this sort at all.
std::vector<reference> references_with(auto member) {
    auto out = all_references();
    std::erase_if(out, [member](const reference& each) { return each.*member == nullptr; });
    return out;
}

// ---- queries -----------------------------------------------------------------------------------------------------

class query_kernels : public of_layout {};
INSTANTIATE_TEST_SUITE_P(all, query_kernels, ::testing::ValuesIn(all_references()), name_of_layout);

TEST_P(query_kernels, equal_the_specification) {
    for_each_table(GetParam().query, [](auto run, unsigned share) {
        EXPECT_EQ(query_differences(GetParam(), run, scaled(4'000'000) / share, few_blocks), 0u);
        EXPECT_EQ(query_differences(GetParam(), run, scaled(2'000'000) / share, many_blocks), 0u);
    });
}

TEST_P(query_kernels, test_every_bit_of_the_mask_and_no_other) {
    for_each_table(GetParam().query, [](auto run, unsigned share) {
        EXPECT_EQ(single_bit_differences(GetParam(), run, scaled(500) / share + 1), 0u);
    });
}

TEST_P(query_kernels, serve_every_length) {
    for_each_table(GetParam().query, [](auto run, unsigned) {
        for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{50}, many_blocks})
            EXPECT_EQ(query_length_differences(GetParam(), run, blocks), 0u) << blocks;
    });
}

TEST_P(query_kernels, serve_extreme_hashes_and_fills) {
    for_each_table(GetParam().query,
                   [](auto run, unsigned) { EXPECT_EQ(query_extreme_differences(GetParam(), run), 0u); });
}

// The comparison itself can fail: a kernel that passes over the top bit of a mask is found out.
TEST_P(query_kernels, with_a_bit_too_few_would_be_found) {
    const reference layout = GetParam();
    const auto broken = [&](const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                            std::size_t count, bool* out) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t* const block = words + layout.index(hashes[i], blocks) * layout.words;
            block_words mask = layout.mask(hashes[i]);
            const auto last =
                std::find_if(mask.rbegin(), mask.rend(), [](std::uint64_t bits) { return bits != 0; });
            *last &= ~(std::uint64_t{1} << (63 - std::countl_zero(*last)));
            std::uint64_t missing = 0;
            for (std::size_t w = 0; w < layout.words; ++w) missing |= ~block[w] & mask[w];
            out[i] = missing == 0;
            found += out[i];
        }
        return found;
    };
    EXPECT_GT(query_differences(layout, broken, 600'000, few_blocks), 0u);
    EXPECT_GT(single_bit_differences(layout, broken, 1), 0u);
}

// ---- adds --------------------------------------------------------------------------------------------------------

class add_kernels : public of_layout {};
INSTANTIATE_TEST_SUITE_P(all, add_kernels, ::testing::ValuesIn(references_with(&reference::add)),
                         name_of_layout);

TEST_P(add_kernels, equal_the_specification_in_runs_of_old_and_new_keys) {
    for_each_table(GetParam().add, [](auto run, unsigned share) {
        EXPECT_EQ(add_run_differences(GetParam(), run, scaled(4'000) / share + 16), 0u);
    });
}

TEST_P(add_kernels, serve_every_length_and_repeated_keys) {
    for_each_table(GetParam().add,
                   [](auto run, unsigned) { EXPECT_EQ(add_length_differences(GetParam(), run), 0u); });
}

TEST_P(add_kernels, serve_extreme_hashes_and_fills) {
    for_each_table(GetParam().add,
                   [](auto run, unsigned) { EXPECT_EQ(add_extreme_differences(GetParam(), run), 0u); });
}

// Kernels that do not count, with the count of the specification: the bits are what is compared.
TEST_P(add_kernels, without_a_count_set_the_same_bits) {
    for_each_table(GetParam().put, [](auto put, unsigned) {
        const auto counted = [&](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                                 std::size_t count) {
            const reference& layout = GetParam();
            std::vector<std::uint64_t> before(words, words + blocks * layout.words);
            std::size_t changed = 0;
            for (std::size_t i = 0; i < count; ++i) {
                std::uint64_t* const block = before.data() + layout.index(hashes[i], blocks) * layout.words;
                const block_words mask = layout.mask(hashes[i]);
                std::uint64_t missing = 0;
                for (std::size_t w = 0; w < layout.words; ++w) {
                    missing |= ~block[w] & mask[w];
                    block[w] |= mask[w];
                }
                changed += missing != 0;
            }
            put(words, blocks, hashes, count);
            return changed;
        };
        EXPECT_EQ(add_length_differences(GetParam(), counted), 0u);
        EXPECT_EQ(add_extreme_differences(GetParam(), counted), 0u);
    });
}

// Faults that such kernels may have: to look at a whole group before writing, which counts a repeated key twice; to add
// what fills up the last group; to write behind the last block.
TEST_P(add_kernels, that_look_too_early_or_write_too_much_would_be_found) {
    const reference layout = GetParam();
    const auto missing = [&](std::uint64_t* words, std::uint64_t blocks, std::uint64_t hash, bool write) {
        std::uint64_t* const block = words + layout.index(hash, blocks) * layout.words;
        const block_words mask = layout.mask(hash);
        std::uint64_t out = 0;
        for (std::size_t w = 0; w < layout.words; ++w) {
            out |= ~block[w] & mask[w];
            if (write) block[w] |= mask[w];
        }
        return out != 0;
    };
    const auto early = [&](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                           std::size_t count) {
        std::size_t changed = 0;
        for (std::size_t first = 0; first < count; first += 8) {
            const std::size_t last = std::min(count, first + 8);
            for (std::size_t i = first; i < last; ++i) changed += missing(words, blocks, hashes[i], false);
            for (std::size_t i = first; i < last; ++i) missing(words, blocks, hashes[i], true);
        }
        return changed;
    };
    EXPECT_GT(add_length_differences(layout, early), 0u);
    EXPECT_GT(add_run_differences(layout, early, 16), 0u);
    const auto filled_up = [&](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                               std::size_t count) {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < count; ++i) changed += missing(words, blocks, hashes[i], true);
        if (count % 8 != 0) missing(words, blocks, 0, true);
        return changed;
    };
    EXPECT_GT(add_length_differences(layout, filled_up), 0u);
    const auto behind = [&](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                            std::size_t count) {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < count; ++i) changed += missing(words, blocks, hashes[i], true);
        ++words[blocks * layout.words];
        return changed;
    };
    EXPECT_GT(add_length_differences(layout, behind), 0u);
}

// ---- single keys -------------------------------------------------------------------------------------------------

class single_keys : public of_layout {};
INSTANTIATE_TEST_SUITE_P(all, single_keys, ::testing::ValuesIn(references_with(&reference::covers)),
                         name_of_layout);

void expect_covers(const reference& layout, detail::cover_function covers, unsigned share) {
    const query_run run = batch_of(layout, covers);
    EXPECT_EQ(query_differences(layout, run, scaled(2'000'000) / share, few_blocks), 0u);
    EXPECT_EQ(single_bit_differences(layout, run, scaled(200) / share + 1), 0u);
    EXPECT_EQ(query_extreme_differences(layout, run), 0u);
}

void expect_sets(const reference& layout, detail::set_function set, unsigned share) {
    const add_run run = batch_of(layout, set);
    EXPECT_EQ(add_run_differences(layout, run, scaled(1'000) / share + 16), 0u);
    EXPECT_EQ(add_length_differences(layout, run), 0u);
    EXPECT_EQ(add_extreme_differences(layout, run), 0u);
}

TEST_P(single_keys, equal_the_specification) {
    for (const named_table& each : all_tables()) {
        SCOPED_TRACE(each.name);
        ASSERT_NE(GetParam().covers(*each.table), nullptr); // there is no other code to fall back to
        ASSERT_NE(GetParam().set(*each.table), nullptr);
        expect_covers(GetParam(), GetParam().covers(*each.table), each.share);
        expect_sets(GetParam(), GetParam().set(*each.table), each.share);
    }
}

// The pointers find the table themselves at the first call, and answer right from that call on.
TEST_P(single_keys, find_their_functions_at_the_first_call) {
    const reference layout = GetParam();
    block_array blocks(layout, 1);
    const auto ask = [&] { return layout.active_covers->load()(blocks.words(), 12'345); };
    const auto set = [&] { return layout.active_set->load()(blocks.words(), 12'345); };
    EXPECT_FALSE(ask());
    EXPECT_EQ(layout.active_covers->load(), layout.covers(detail::active_kernels()));
    EXPECT_TRUE(set());
    EXPECT_EQ(layout.active_set->load(), layout.set(detail::active_kernels()));
    EXPECT_TRUE(ask());
    EXPECT_FALSE(set());
    expect_covers(layout, layout.active_covers->load(), 10);
    expect_sets(layout, layout.active_set->load(), 10);
}

TEST(kernel_tables, name_what_this_machine_has) {
    const detail::kernel_table* const scalar = detail::kernels_of(detail::isa::scalar);
    ASSERT_NE(scalar, nullptr);
    EXPECT_EQ(&detail::active_kernels(), detail::kernels_of(detail::active_isa()));
    for (const named_table& each : all_tables()) {
        SCOPED_TRACE(each.name);
        const bool none = each.table == scalar; // the loop over the specification serves
        for (const reference& layout : all_references()) {
            EXPECT_EQ(layout.query(*each.table) == nullptr, none) << layout.name;
            if (layout.add) {
                EXPECT_EQ(layout.add(*each.table) == nullptr, none) << layout.name;
            }
        }
        EXPECT_EQ(each.table->registers[0], nullptr); // no bits at all have no kernel
        EXPECT_EQ(each.table->sectors2[0], nullptr);
        EXPECT_EQ(each.table->sectors4[0], nullptr);
    }
}

} // namespace
} // namespace bouncer::test
