// Peeling: items lie in several cells each, and a cell that holds a single one gives it away; taken out of its other cells,
// it may leave another alone there, and so on. Static filters find by it an order to fill their cells in, invertible
// tables list what they hold.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bouncer::detail {

// What peel() asks of a table of cells:
//   alone(cell)                    whether exactly one item is left in the cell. A table that cannot know for sure (cells
//                                  of an invertible table: counts with signs) checks a checksum here;
//   item(cell)                     that item. Asked only right after alone(cell) was true;
//   take_out(item, cell, touched)  removes the item from all its cells and calls touched(other) for each cell but `cell`
//                                  itself. Whether `cell` is cleared is the table's business, but it must not be alone
//                                  for good: the same item would be peeled until `most` is reached.
template <class Table>
concept peelable = requires(Table& table, const Table& seen, std::uint32_t cell,
                            void (*touched)(std::uint32_t)) {
    { seen.alone(cell) }
    noexcept->std::convertible_to<bool>;
    seen.item(cell);
    table.take_out(seen.item(cell), cell, touched);
};

// Cells to look at, last in first out, in memory of the caller: one place more than it can hold, because a cell is always
// written and only sometimes kept (a branch would be mispredicted half the time). A full stack forgets what is pushed: a
// table whose cells can be alone more than once (which those of a static filter cannot: there, as many places as cells are
// enough) starts again with peel_starts() until nothing more is peeled.
class peel_stack {
  public:
    // Precondition: there is at least one place.
    explicit peel_stack(std::span<std::uint32_t> places) noexcept
        : cells_(places.data()), most_(places.size() - 1) {}

    // [exclusive] This and all below.
    void push_if(std::uint32_t cell, bool wanted) noexcept {
        cells_[size_] = cell;
        size_ += static_cast<std::size_t>(wanted) & static_cast<std::size_t>(size_ < most_);
    }
    // Precondition: !empty().
    std::uint32_t pop() noexcept { return cells_[--size_]; }
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::uint32_t* cells_;
    std::size_t size_ = 0;
    std::size_t most_;
};

// [exclusive] Puts every cell of [0, cells) that is alone now onto the stack.
template <peelable Table>
[[gnu::always_inline]] inline void peel_starts(const Table& table, std::uint32_t cells,
                                               peel_stack& stack) noexcept {
    for (std::uint32_t cell = 0; cell < cells; ++cell) stack.push_if(cell, table.alone(cell));
}

// [exclusive] Peels from the cells on the stack on, until it is empty or `most` items were peeled; returns how many were.
// visit(item, cell) comes before the item is taken out. Allocates nothing. Ends for every table, one that answers nonsense
// too: each peel pushes at most as often as take_out() calls, and there are at most `most`. The table is believed in
// nothing else: cells that it names go back to it and nowhere else.
template <peelable Table, class Visit>
[[gnu::always_inline]] inline std::uint64_t peel(Table& table, peel_stack& stack, std::uint64_t most,
                                                 Visit visit) noexcept {
    std::uint64_t peeled = 0;
    while (!stack.empty()) {
        const std::uint32_t cell = stack.pop();
        if (!table.alone(cell)) continue; // its item went with another of its cells
        if (peeled == most) break;
        ++peeled;
        const auto item = table.item(cell);
        visit(item, cell);
        table.take_out(item, cell,
                       [&](std::uint32_t other) noexcept { stack.push_if(other, table.alone(other)); });
    }
    return peeled;
}

} // namespace bouncer::detail
