// What the kernels are compared with: the scalar specification, block by block, and blocks to compare on.
#pragma once

#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/kernels.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bouncer::test {

using block_words = std::array<std::uint64_t, 16>; // the largest block

// A layout that has kernels: its entries in a kernel table (null where it has none), and its mask by block_mask.h.
struct reference {
    std::string name;
    std::size_t words; // per block
    std::function<std::uint64_t(std::uint64_t hash, std::uint64_t blocks)> index;
    std::function<block_words(std::uint64_t hash)> mask;
    std::function<detail::query_kernel(const detail::kernel_table&)> query;
    std::function<detail::add_kernel(const detail::kernel_table&)> add = nullptr;
    std::function<detail::put_kernel(const detail::kernel_table&)> put = nullptr;
    std::function<detail::cover_function(const detail::kernel_table&)> covers = nullptr;
    std::atomic<detail::cover_function>* active_covers = nullptr;
    std::function<detail::set_function(const detail::kernel_table&)> set = nullptr;
    std::atomic<detail::set_function>* active_set = nullptr;
};

inline reference lanes8_reference() {
    return {.name = "lanes8",
            .words = 8,
            .index = detail::fast_range,
            .mask =
                [](std::uint64_t hash) {
                    block_words out{};
                    for (std::size_t w = 0; w < 8; ++w)
                        out[w] = detail::byte_bit(detail::position_word(hash, 0), w);
                    return out;
                },
            .query = &detail::kernel_table::lanes8,
            .add = &detail::kernel_table::add_lanes8,
            .put = &detail::kernel_table::put_lanes8,
            .covers = &detail::kernel_table::lanes8_covers,
            .active_covers = &detail::active_lanes8_covers,
            .set = &detail::kernel_table::lanes8_set,
            .active_set = &detail::active_lanes8_set};
}

inline reference lanes16_reference() {
    return {.name = "lanes16",
            .words = 16,
            .index = detail::fast_range,
            .mask =
                [](std::uint64_t hash) {
                    block_words out{};
                    for (std::size_t w = 0; w < 16; ++w)
                        out[w] = detail::byte_bit(detail::position_word(hash, w / 8), w % 8);
                    return out;
                },
            .query = &detail::kernel_table::lanes16,
            .add = &detail::kernel_table::add_lanes16,
            .put = &detail::kernel_table::put_lanes16,
            .covers = &detail::kernel_table::lanes16_covers,
            .active_covers = &detail::active_lanes16_covers,
            .set = &detail::kernel_table::lanes16_set,
            .active_set = &detail::active_lanes16_set};
}

inline reference split_block_reference() {
    return {.name = "split_block",
            .words = 4,
            .index = detail::split_block_index,
            .mask =
                [](std::uint64_t hash) {
                    block_words out{};
                    for (std::size_t w = 0; w < 4; ++w) out[w] = detail::split_block_word(hash, w);
                    return out;
                },
            .query = &detail::kernel_table::split_block,
            .add = &detail::kernel_table::add_split_block,
            .put = &detail::kernel_table::put_split_block};
}

inline reference register_reference(unsigned k) {
    return {.name = "register_k" + std::to_string(k),
            .words = 1,
            .index = detail::fast_range,
            .mask = [k](std::uint64_t hash) { return block_words{detail::mask_register(hash, k)}; },
            .query = [k](const detail::kernel_table& table) { return table.registers[k]; }};
}

inline reference sectors_reference(std::uint32_t groups, std::uint32_t bits) {
    return {.name = "sectors" + std::to_string(groups) + "_k" + std::to_string(groups * bits),
            .words = 8,
            .index = detail::fast_range,
            .mask =
                [=](std::uint64_t hash) {
                    block_words out{};
                    for (std::uint32_t group = 0; group < groups; ++group) {
                        const auto at = detail::sector_of(hash, groups, group, bits);
                        out[at.word] = at.bits;
                    }
                    return out;
                },
            .query =
                [=](const detail::kernel_table& table) {
                    return groups == 2 ? table.sectors2[bits] : table.sectors4[bits];
                }};
}

inline std::vector<reference> all_references() {
    std::vector<reference> out{lanes8_reference(), lanes16_reference(), split_block_reference()};
    for (unsigned k = 1; k <= 8; ++k) out.push_back(register_reference(k));
    for (std::uint32_t bits = 1; bits <= 8; ++bits) out.push_back(sectors_reference(2, bits));
    for (std::uint32_t bits = 1; bits <= 4; ++bits) out.push_back(sectors_reference(4, bits));
    return out;
}

// Blocks in 64-byte aligned memory, with a line before and one behind that nobody may write.
class block_array {
  public:
    block_array(const reference& layout, std::uint64_t blocks)
        : layout_(&layout), blocks_(blocks), lines_((blocks * layout.words + 7) / 8 + 2) {
        for (line& each : lines_)
            for (std::uint64_t& word : each.words) word = untouched;
        fill(0);
    }

    std::uint64_t blocks() const { return blocks_; }
    std::uint64_t word_count() const { return blocks_ * layout_->words; }
    std::uint64_t* words() { return lines_[1].words; }
    const std::uint64_t* words() const { return lines_[1].words; }

    void fill(std::uint64_t value) {
        for (std::uint64_t i = 0; i < word_count(); ++i) words()[i] = value;
    }
    // Whether a bit was missing.
    bool add(std::uint64_t hash) {
        std::uint64_t* const block = words() + first_word(hash);
        const block_words mask = layout_->mask(hash);
        std::uint64_t missing = 0;
        for (std::size_t w = 0; w < layout_->words; ++w) {
            missing |= ~block[w] & mask[w];
            block[w] |= mask[w];
        }
        return missing != 0;
    }
    bool may_contain(std::uint64_t hash) const {
        const std::uint64_t* const block = words() + first_word(hash);
        const block_words mask = layout_->mask(hash);
        std::uint64_t missing = 0;
        for (std::size_t w = 0; w < layout_->words; ++w) missing |= ~block[w] & mask[w];
        return missing == 0;
    }

    friend bool operator==(const block_array& a, const block_array& b) {
        for (std::uint64_t i = 0; i < a.word_count(); ++i)
            if (a.words()[i] != b.words()[i]) return false;
        return a.blocks_ == b.blocks_;
    }
    // Whether the words around the blocks are as they were.
    bool intact_around() const {
        for (const std::uint64_t word : lines_.front().words)
            if (word != untouched) return false;
        for (std::uint64_t i = word_count(); i < (lines_.size() - 1) * 8; ++i)
            if (lines_[1 + i / 8].words[i % 8] != untouched) return false;
        return true;
    }

  private:
    static constexpr std::uint64_t untouched = 0x5a5a5a5a5a5a5a5au;
    struct alignas(64) line {
        std::uint64_t words[8] = {};
    };

    std::uint64_t first_word(std::uint64_t hash) const {
        return layout_->index(hash, blocks_) * layout_->words;
    }

    const reference* layout_;
    std::uint64_t blocks_;
    std::vector<line> lines_;
};

} // namespace bouncer::test
