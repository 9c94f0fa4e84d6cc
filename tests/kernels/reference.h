// What the kernels are compared with: the scalar specification, block by block, and blocks to compare on.
#pragma once

#include <bouncer/detail/block_mask.h>
#include <bouncer/detail/kernels.h>

#include "support/random_hashes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bouncer::test {

// One of the three block layouts that have kernels: its entry in a kernel table and its mask by block_mask.h.
struct lanes8_reference {
    static constexpr const char* name = "lanes8";
    static constexpr std::size_t words = 8;
    static constexpr auto entry = &detail::kernel_table::lanes8;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) {
        return detail::fast_range(hash, blocks);
    }
    static std::uint64_t word(std::uint64_t hash, std::size_t w) {
        return detail::lane_bit(detail::position_word(hash, 0), w);
    }
};

struct lanes16_reference {
    static constexpr const char* name = "lanes16";
    static constexpr std::size_t words = 16;
    static constexpr auto entry = &detail::kernel_table::lanes16;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) {
        return detail::fast_range(hash, blocks);
    }
    static std::uint64_t word(std::uint64_t hash, std::size_t w) {
        return detail::lane_bit(detail::position_word(hash, w / 8), w % 8);
    }
};

struct split_block_reference {
    static constexpr const char* name = "split_block";
    static constexpr std::size_t words = 4;
    static constexpr auto entry = &detail::kernel_table::split_block;
    static std::uint64_t index(std::uint64_t hash, std::uint64_t blocks) {
        return detail::split_block_index(hash, blocks);
    }
    static std::uint64_t word(std::uint64_t hash, std::size_t w) { return detail::split_block_word(hash, w); }
};

// Blocks in 64-byte aligned memory.
template <class Reference>
class block_array {
  public:
    explicit block_array(std::uint64_t blocks)
        : blocks_(blocks), lines_((blocks * Reference::words + 7) / 8) {}

    std::uint64_t blocks() const { return blocks_; }
    std::uint64_t word_count() const { return blocks_ * Reference::words; }
    std::uint64_t* words() { return lines_.data()->words; }
    const std::uint64_t* words() const { return lines_.data()->words; }

    void fill(std::uint64_t value) {
        for (std::uint64_t i = 0; i < word_count(); ++i) words()[i] = value;
    }
    void add(std::uint64_t hash) {
        for (std::size_t w = 0; w < Reference::words; ++w) block_of(hash)[w] |= Reference::word(hash, w);
    }
    bool may_contain(std::uint64_t hash) const {
        const std::uint64_t* const block = words() + Reference::index(hash, blocks_) * Reference::words;
        for (std::size_t w = 0; w < Reference::words; ++w)
            if ((~block[w] & Reference::word(hash, w)) != 0) return false;
        return true;
    }
    std::uint64_t* block_of(std::uint64_t hash) {
        return words() + Reference::index(hash, blocks_) * Reference::words;
    }

  private:
    struct alignas(64) line {
        std::uint64_t words[8] = {};
    };
    std::uint64_t blocks_;
    std::vector<line> lines_;
};

// How many of `count` answers differ from the specification, in batches of the given length. Two of three hashes
// are random, every third was added. The blocks are half full of random bits besides.
template <class Reference, class Kernel>
std::uint64_t differences(Kernel kernel, std::uint64_t count) {
    constexpr std::size_t batch = 3'000;
    block_array<Reference> blocks(1'000);
    for (std::uint64_t i = 0; i < blocks.word_count(); ++i) blocks.words()[i] = random_hash(1, i);
    for (std::uint64_t i = 0; i < 3'000; ++i) blocks.add(random_hash(2, i));
    std::array<std::uint64_t, batch> hashes;
    answers got(batch);
    std::uint64_t wrong = 0;
    for (std::uint64_t first = 0; first < count; first += batch) {
        for (std::size_t i = 0; i < batch; ++i)
            hashes[i] = i % 3 == 0 ? random_hash(2, (first + i) / 3 % 3'000) : random_hash(3, first + i);
        const std::size_t found =
            kernel(blocks.words(), blocks.blocks(), hashes.data(), batch, got.span().data());
        std::size_t expected = 0;
        for (std::size_t i = 0; i < batch; ++i) {
            const bool may_contain = blocks.may_contain(hashes[i]);
            wrong += got[i] != may_contain;
            expected += may_contain;
        }
        wrong += found != expected;
    }
    return wrong;
}

// How many answers are wrong when all bits are set but one: "no" is right exactly for bits of the key's mask.
template <class Reference, class Kernel>
std::uint64_t single_bit_differences(Kernel kernel, std::uint64_t hashes) {
    std::uint64_t wrong = 0;
    block_array<Reference> blocks(3);
    for (std::uint64_t i = 0; i < hashes; ++i) {
        const std::uint64_t hash = random_hash(4, i);
        blocks.fill(~std::uint64_t{0});
        for (std::uint64_t bit = 0; bit < blocks.word_count() * 64; ++bit) {
            blocks.words()[bit / 64] = ~(std::uint64_t{1} << (bit % 64));
            bool answer = false;
            const std::size_t found = kernel(blocks.words(), blocks.blocks(), &hash, 1, &answer);
            wrong += answer != blocks.may_contain(hash);
            wrong += found != static_cast<std::size_t>(answer);
            blocks.words()[bit / 64] = ~std::uint64_t{0};
        }
    }
    return wrong;
}

// Batches of every length around the pipeline's depth, and what lies behind the answers.
template <class Reference, class Kernel>
std::uint64_t length_differences(Kernel kernel) {
    block_array<Reference> blocks(50);
    for (std::uint64_t i = 0; i < blocks.word_count(); ++i)
        blocks.words()[i] = random_hash(5, i) | random_hash(6, i) | random_hash(7, i);
    const auto hashes = random_hashes(100, 8);
    std::uint64_t wrong = 0;
    for (std::size_t length = 0; length <= hashes.size(); ++length) {
        for (const bool behind : {false, true}) {
            answers got(length + 1, behind);
            const std::size_t found =
                kernel(blocks.words(), blocks.blocks(), hashes.data(), length, got.span().data());
            std::size_t expected = 0;
            for (std::size_t i = 0; i < length; ++i) {
                wrong += got[i] != blocks.may_contain(hashes[i]);
                expected += blocks.may_contain(hashes[i]);
            }
            wrong += found != expected;
            wrong += got[length] != behind;
        }
    }
    return wrong;
}

// Empty blocks, full blocks, and hashes from the ends of the range.
template <class Reference, class Kernel>
std::uint64_t extreme_differences(Kernel kernel) {
    std::uint64_t wrong = 0;
    for (const std::uint64_t count : {1u, 2u, 7u, 64u}) {
        block_array<Reference> blocks(count);
        for (const std::uint64_t value :
             {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000000}}) {
            blocks.fill(value);
            const auto hashes = extreme_hashes();
            answers got(hashes.size());
            kernel(blocks.words(), blocks.blocks(), hashes.data(), hashes.size(), got.span().data());
            for (std::size_t i = 0; i < hashes.size(); ++i) wrong += got[i] != blocks.may_contain(hashes[i]);
        }
    }
    return wrong;
}

} // namespace bouncer::test
