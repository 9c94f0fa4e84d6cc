// The peeler on tables that are no filters: a small invertible table, and tables that lie.
#include <bouncer/detail/bits.h>
#include <bouncer/detail/peel.h>

#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace bouncer::test {
namespace {

using detail::mix64;

// As an invertible table has them: counts with signs, sums of keys, sums of checksums. The difference of two sets.
class signed_cells {
  public:
    struct found {
        std::uint64_t key;
        int sign;
    };

    explicit signed_cells(std::uint32_t cells) : cells_(cells) {}

    void add(std::uint64_t key, int sign) {
        for (const std::uint32_t at : places(key)) change(at, key, sign);
    }

    bool alone(std::uint32_t cell) const noexcept {
        const one& c = cells_[cell];
        return (c.count == 1 || c.count == -1) && c.checks == mix64(c.keys + 1);
    }
    found item(std::uint32_t cell) const noexcept { return {cells_[cell].keys, cells_[cell].count}; }
    template <class Touched>
    void take_out(const found& item, std::uint32_t cell, Touched touched) noexcept {
        for (const std::uint32_t at : places(item.key)) {
            change(at, item.key, -item.sign);
            if (at != cell) touched(at);
        }
    }

    bool empty() const {
        return std::all_of(cells_.begin(), cells_.end(),
                           [](const one& c) { return c.count == 0 && c.keys == 0 && c.checks == 0; });
    }
    void spoil(std::uint32_t cell, std::uint64_t key) { cells_[cell] = {1, key, mix64(key + 1)}; }

  private:
    struct one {
        int count = 0;
        std::uint64_t keys = 0;
        std::uint64_t checks = 0;
    };

    std::array<std::uint32_t, 3> places(std::uint64_t key) const noexcept {
        const auto third = static_cast<std::uint32_t>(cells_.size() / 3);
        std::array<std::uint32_t, 3> out{};
        for (std::uint32_t i = 0; i < 3; ++i)
            out[i] = i * third + static_cast<std::uint32_t>(mix64(key * 3 + i) % third);
        return out;
    }
    void change(std::uint32_t at, std::uint64_t key, int sign) noexcept {
        cells_[at].count += sign;
        cells_[at].keys ^= key;
        cells_[at].checks ^= mix64(key + 1);
    }

    std::vector<one> cells_;
};

TEST(peel, lists_both_sides_of_a_difference) {
    constexpr std::uint32_t cells = 300;
    signed_cells table(cells);
    std::map<std::uint64_t, int> expected;
    for (std::uint64_t i = 0; i < 180; ++i) {
        const std::uint64_t key = random_hash(1, i);
        const int sign = i % 3 == 0 ? -1 : 1;
        table.add(key, sign);
        expected[key] = sign;
    }
    std::vector<std::uint32_t> places(cells + 1);
    detail::peel_stack stack(places);
    detail::peel_starts(table, cells, stack);
    std::map<std::uint64_t, int> got;
    const auto peeled = detail::peel(
        table, stack, cells, [&](const signed_cells::found& one, std::uint32_t) { got[one.key] = one.sign; });
    EXPECT_EQ(peeled, 180u);
    EXPECT_EQ(got, expected);
    EXPECT_TRUE(table.empty());
}

TEST(peel, stops_where_nothing_is_alone) {
    constexpr std::uint32_t cells = 30;
    signed_cells table(cells);
    for (std::uint64_t i = 0; i < 200; ++i) table.add(random_hash(2, i), 1);
    std::vector<std::uint32_t> places(cells + 1);
    detail::peel_stack stack(places);
    detail::peel_starts(table, cells, stack);
    EXPECT_LT(detail::peel(table, stack, 200, [](const auto&, std::uint32_t) {}), 200u);
    EXPECT_FALSE(table.empty());
}

TEST(peel, a_short_stack_forgets_but_can_start_again) {
    constexpr std::uint32_t cells = 3000;
    signed_cells table(cells);
    for (std::uint64_t i = 0; i < 2000; ++i) table.add(random_hash(3, i), 1);
    std::vector<std::uint32_t> places(17);
    detail::peel_stack stack(places);
    std::uint64_t peeled = 0;
    for (std::uint64_t last = 1; last != 0; peeled += last) {
        detail::peel_starts(table, cells, stack);
        EXPECT_LE(stack.size(), 16u);
        last = detail::peel(table, stack, 2000, [](const auto&, std::uint32_t) {});
    }
    EXPECT_EQ(peeled, 2000u);
    EXPECT_TRUE(table.empty());
}

// A key in a cell that is none of its own: taking it out does not clear the cell, and puts it into three others.
TEST(peel, ends_for_a_damaged_table) {
    constexpr std::uint32_t cells = 300;
    for (std::uint64_t damage = 0; damage < 50; ++damage) {
        signed_cells table(cells);
        for (std::uint64_t i = 0; i < 150; ++i) table.add(random_hash(4, i), 1);
        table.spoil(static_cast<std::uint32_t>(random_hash(5, damage) % cells), random_hash(6, damage));
        std::vector<std::uint32_t> places(cells + 1);
        detail::peel_stack stack(places);
        detail::peel_starts(table, cells, stack);
        EXPECT_LE(detail::peel(table, stack, cells, [](const auto&, std::uint32_t) {}), cells);
        EXPECT_FALSE(table.empty());
    }
}

// Says that everything is alone, always, and touches every cell each time.
struct lying_cells {
    std::uint32_t cells;
    std::uint64_t taken = 0;
    bool alone(std::uint32_t) const noexcept { return true; }
    std::uint32_t item(std::uint32_t cell) const noexcept { return cell; }
    template <class Touched>
    void take_out(std::uint32_t, std::uint32_t, Touched touched) noexcept {
        ++taken;
        for (std::uint32_t cell = 0; cell < cells; ++cell) touched(cell);
    }
};

TEST(peel, ends_for_a_table_that_lies) {
    lying_cells table{64};
    std::vector<std::uint32_t> places(33);
    detail::peel_stack stack(places);
    detail::peel_starts(table, 64, stack);
    EXPECT_EQ(stack.size(), 32u);
    std::uint64_t visited = 0;
    EXPECT_EQ(detail::peel(table, stack, 1000, [&](std::uint32_t, std::uint32_t) { ++visited; }), 1000u);
    EXPECT_EQ(visited, 1000u);
    EXPECT_EQ(table.taken, 1000u);
    EXPECT_LE(stack.size(), 32u);
}

TEST(peel, of_nothing_is_nothing) {
    lying_cells table{4};
    std::vector<std::uint32_t> places(1);
    detail::peel_stack stack(places);
    detail::peel_starts(table, 4, stack);
    EXPECT_TRUE(stack.empty());
    EXPECT_EQ(detail::peel(table, stack, 10, [](std::uint32_t, std::uint32_t) {}), 0u);
    std::vector<std::uint32_t> more(5);
    detail::peel_stack wide(more);
    detail::peel_starts(table, 4, wide);
    EXPECT_EQ(detail::peel(table, wide, 0, [](std::uint32_t, std::uint32_t) {}), 0u);
}

} // namespace
} // namespace bouncer::test
