// Kernels against the specification: each function returns how many things were not as they should be.
#pragma once

#include "kernels/reference.h"
#include "support/random_hashes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace bouncer::test {

// A kernel, or something with a fault to be found.
using query_run = std::function<std::size_t(const std::uint64_t* words, std::uint64_t blocks,
                                            const std::uint64_t* hashes, std::size_t count, bool* answers)>;
using add_run = std::function<std::size_t(std::uint64_t* words, std::uint64_t blocks,
                                          const std::uint64_t* hashes, std::size_t count)>;

// ---- queries -----------------------------------------------------------------------------------------------------

// Answers to `count` hashes in batches: two of three hashes are random, every third was added. The blocks are half full
// of random bits besides.
inline std::uint64_t query_differences(const reference& layout, const query_run& kernel, std::uint64_t count,
                                       std::uint64_t block_count) {
    constexpr std::size_t batch = 3'000;
    block_array blocks(layout, block_count);
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

// All bits are set but one: "no" is right exactly for bits of the key's mask.
inline std::uint64_t single_bit_differences(const reference& layout, const query_run& kernel,
                                            std::uint64_t hashes) {
    std::uint64_t wrong = 0;
    block_array blocks(layout, 3);
    blocks.fill(~std::uint64_t{0});
    for (std::uint64_t i = 0; i < hashes; ++i) {
        const std::uint64_t hash = random_hash(4, i);
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
inline std::uint64_t query_length_differences(const reference& layout, const query_run& kernel,
                                              std::uint64_t block_count) {
    block_array blocks(layout, block_count);
    for (std::uint64_t i = 0; i < blocks.word_count(); ++i)
        blocks.words()[i] = random_hash(5, i) | random_hash(6, i) | random_hash(7, i);
    const auto hashes = random_hashes(150, 8);
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
inline std::uint64_t query_extreme_differences(const reference& layout, const query_run& kernel) {
    std::uint64_t wrong = 0;
    for (const std::uint64_t count : {1u, 2u, 7u, 64u}) {
        block_array blocks(layout, count);
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

// A single-key test as a kernel for batches, so that the comparisons above serve it too.
inline query_run batch_of(const reference& layout, detail::cover_function covers) {
    return [&layout, covers](const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                             std::size_t count, bool* out) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = covers(words + layout.index(hashes[i], blocks) * layout.words, hashes[i]);
            found += out[i];
        }
        return found;
    };
}

// ---- adds --------------------------------------------------------------------------------------------------------

// A single-key add as a kernel for batches.
inline add_run batch_of(const reference& layout, detail::set_function set) {
    return [&layout, set](std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                          std::size_t count) {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < count; ++i)
            changed += set(words + layout.index(hashes[i], blocks) * layout.words, hashes[i]);
        return changed;
    };
}

// The same batch to the kernel and to the specification: the bits, the count, and nothing written around them.
inline std::uint64_t add_batch_differences(const add_run& kernel, block_array& got, block_array& expected,
                                           const std::vector<std::uint64_t>& hashes) {
    const std::size_t changed = kernel(got.words(), got.blocks(), hashes.data(), hashes.size());
    std::size_t changed_expected = 0;
    for (const std::uint64_t hash : hashes) changed_expected += expected.add(hash);
    return std::uint64_t{changed != changed_expected} + !(got == expected) + !got.intact_around();
}

// Every length, each batch twice, in few blocks: keys of one group share a block, and every fifth is the one before it.
inline std::uint64_t add_length_differences(const reference& layout, const add_run& kernel) {
    std::uint64_t wrong = 0;
    for (const std::uint64_t blocks : {1u, 3u, 50u}) {
        for (std::size_t length = 0; length <= 150; ++length) {
            block_array got(layout, blocks);
            block_array expected(layout, blocks);
            auto hashes = random_hashes(length, 10 + length);
            for (std::size_t i = 4; i < length; i += 5) hashes[i] = hashes[i - 1];
            for (int again = 0; again < 2; ++again)
                wrong += add_batch_differences(kernel, got, expected, hashes);
        }
    }
    return wrong;
}

// Runs of new keys, of old ones and mixtures, each of a length of its own: a kernel that guesses what comes next from
// what came last must count right at every change.
inline std::uint64_t add_run_differences(const reference& layout, const add_run& kernel,
                                         std::uint64_t batches) {
    std::uint64_t wrong = 0;
    std::uint64_t fresh = 0; // keys of stream 200 added so far
    block_array got(layout, 400);
    block_array expected(layout, 400);
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
        if (batch % 16 == 0) { // beyond some 5000 keys the blocks are full and nothing is new any more
            got.fill(0);
            expected.fill(0);
        }
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t run = 0; run < 20; ++run) {
            const std::uint64_t draw = random_hash(300, batch * 20 + run);
            for (std::uint64_t left = draw % 37; left > 0; --left) {
                const bool is_new = draw >> 62 == 0 || (draw >> 62 == 1 && left % 3 == 0) || fresh == 0;
                hashes.push_back(random_hash(200, is_new ? fresh++ : (draw + left) % fresh));
            }
        }
        wrong += add_batch_differences(kernel, got, expected, hashes);
    }
    return wrong;
}

inline std::uint64_t add_extreme_differences(const reference& layout, const add_run& kernel) {
    std::uint64_t wrong = 0;
    for (const std::uint64_t blocks : {1u, 2u, 7u, 64u}) {
        for (const std::uint64_t value :
             {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000000}}) {
            block_array got(layout, blocks);
            block_array expected(layout, blocks);
            got.fill(value);
            expected.fill(value);
            wrong += add_batch_differences(kernel, got, expected, extreme_hashes());
            wrong += add_batch_differences(kernel, got, expected,
                                           std::vector<std::uint64_t>(40, ~std::uint64_t{0}));
        }
    }
    return wrong;
}

} // namespace bouncer::test
