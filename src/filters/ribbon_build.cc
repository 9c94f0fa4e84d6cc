#include "filters/ribbon_build.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

namespace bouncer::detail::ribbon {

namespace {

// Slots below keys by this part of 64ths: the rest is bumped, and hardly a slot stays empty. Space above the bound, of a
// million keys with 8 columns: 0.38 % with 3 % fewer slots, 0.30 with 4, 0.26 with 5, 0.24 with 6.25, 0.23 with 8, which
// took a twentieth more steps.
constexpr std::uint64_t bumped_64ths = 4;
// A layer of fewer keys costs more for its ends than it saves: the last layer takes them.
constexpr std::uint64_t layer_keys_least = 256;

constexpr std::uint64_t whole_blocks(std::uint64_t slots) noexcept {
    return (slots + 63) / 64 * 64;
}
std::uint64_t slots_for(std::uint64_t keys) noexcept {
    return keys < layer_keys_least ? 0 : whole_blocks(keys - keys * bumped_64ths / 64);
}
// The last layer holds every key, by trying other coefficients; after every eight attempts in more slots.
std::uint64_t last_slots_for(std::uint64_t keys, std::uint64_t attempt) noexcept {
    if (keys == 0) return 0;
    const std::uint64_t slots = keys + keys / 16 + width + 16;
    return whole_blocks(slots + attempt / 8 * (slots / 8 + 64));
}

struct row {
    std::uint64_t coefficients; // 0: empty; else bit 0 is set
    std::uint64_t fingerprint;
};

class builder final : public shard_builder {
  public:
    builder(std::uint64_t shards, const row_shape& shape) : shards_(shards), shape_(shape) {}

    result<void> build(std::span<const std::uint64_t> hashes, std::uint64_t shard,
                       shard_words& out) override {
        if (hashes.size() > UINT32_MAX / 2)
            return failure{error_code::invalid_argument,
                           "the hashes are not random: " + std::to_string(hashes.size()) +
                               " of them are in shard " + std::to_string(shard) + " of " +
                               std::to_string(shards_) + "; try another seed, or a keyed hash"};
        std::uint64_t attempt = 0;
        while (!build_layers(hashes, shard, attempt, out)) {
            // Keys that are distinct fit sooner or later: 2^-64 of the pairs agree in all coefficients of an attempt.
            if (++attempt == 256)
                return failure{error_code::invalid_argument,
                               "the hashes are not random: 256 ways to place the last " +
                                   std::to_string(bumped_.size()) + " keys of shard " +
                                   std::to_string(shard) + " have failed; try another seed, or a keyed hash"};
        }
        return {};
    }

  private:
    // False: the last layer has failed with this attempt.
    bool build_layers(std::span<const std::uint64_t> hashes, std::uint64_t shard, std::uint64_t attempt,
                      shard_words& out) {
        std::array<std::uint64_t, layers> slots{};
        if (attempt == 0) {
            // Layers 0 to 2, whatever becomes of the last.
            make_room(solved_, expected_words(hashes.size(), shape_));
            codes_.clear();
            make_room(keys_, hashes.size());
            keys_.assign(hashes.begin(), hashes.end());
            for (std::size_t layer = 0; layer + 1 < layers; ++layer) {
                slots_[layer] = slots_for(keys_.size());
                if (slots_[layer] == 0)
                    bumped_.assign(keys_.begin(), keys_.end());
                else
                    solve_layer(layer == 0 ? shards_ : 1, slots_[layer]);
                if (layer + 2 < layers) {
                    for (std::uint64_t& key : bumped_) key = next_key(key, layer, 0);
                    std::sort(bumped_.begin(), bumped_.end());
                    keys_.swap(bumped_);
                }
            }
        }
        slots = slots_;
        slots[layers - 1] = last_slots_for(bumped_.size(), attempt);
        const std::size_t kept = solved_.size();
        if (!bumped_.empty()) {
            keys_.assign(bumped_.begin(), bumped_.end());
            for (std::uint64_t& key : keys_) key = next_key(key, layers - 2, attempt);
            std::sort(keys_.begin(), keys_.end());
            if (!solve_last(slots[layers - 1])) {
                solved_.resize(kept);
                return false;
            }
        }
        const std::uint64_t code_words = (codes_.size() + 7) / 8 * 8;
        out.entry[0] = attempt << 48;
        out.entry[1] = slots[0] | slots[1] << 32;
        out.entry[2] = slots[2] | slots[3] << 32;
        out.entry[3] = code_words;
        const std::size_t words = code_words + solved_.size() + (shard + 1 == shards_ ? spare_words : 0);
        make_room(out.words, words);
        out.words.assign(words, 0);
        std::copy(codes_.begin(), codes_.end(), out.words.begin());
        std::copy(solved_.begin(), solved_.end(),
                  out.words.begin() + static_cast<std::ptrdiff_t>(code_words));
        return true;
    }

    // keys_ into a layer; leaves those that were bumped in bumped_.
    void solve_layer(std::uint64_t multiplier, std::uint64_t slots) {
        bumped_.clear();
        make_room(rows_, slots);
        rows_.assign(slots, row{});
        const std::uint64_t starts = starts_of(slots);
        const std::size_t first_code = codes_.size();
        codes_.resize(first_code + code_words_of(slots), 0);
        std::size_t begin = 0;
        for (std::uint64_t bucket = 0; bucket * bucket_starts < starts; ++bucket) {
            std::size_t end = begin;
            starts_.clear();
            while (end < keys_.size()) {
                const std::uint64_t start = fast_range(keys_[end] * multiplier, starts);
                if (start / bucket_starts != bucket) break;
                starts_.push_back(start);
                ++end;
            }
            const std::uint64_t code = solve_bucket(std::span(keys_).subspan(begin, end - begin));
            codes_[first_code + bucket / 32] |= code << (bucket % 32 * 2);
            begin = end;
        }
        substitute(slots);
    }

    // A bucket's keys, from its last start to its first: the rows of the bucket before have run over into its first slots,
    // so those are where room ends. Returns its code.
    std::uint64_t solve_bucket(std::span<const std::uint64_t> keys) {
        taken_.clear();
        std::size_t left = keys.size();
        while (left != 0) {
            const std::uint64_t key = keys[left - 1];
            const std::uint64_t slot = insert(starts_[left - 1], key);
            if (slot == dependent) break;
            taken_.push_back(slot);
            --left;
        }
        if (left == 0) return 3;
        // All keys that share a code with the one that failed are bumped. Later rows never changed earlier ones, so rows
        // are taken out by emptying them.
        const std::uint64_t failed = starts_[left - 1] % bucket_starts;
        std::uint64_t code = 2;
        while (failed >= bumped_below[code]) --code;
        std::size_t bumped = 0;
        while (bumped < keys.size() && starts_[bumped] % bucket_starts < bumped_below[code]) ++bumped;
        for (std::size_t i = left; i < bumped; ++i)
            if (const std::uint64_t slot = taken_[keys.size() - 1 - i]; slot != redundant)
                rows_[slot] = row{};
        bumped_.insert(bumped_.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(bumped));
        return code;
    }

    bool solve_last(std::uint64_t slots) {
        rows_.assign(slots, row{});
        for (const std::uint64_t key : keys_)
            if (insert(fast_range(key, starts_of(slots)), key) == dependent) return false;
        substitute(slots);
        return true;
    }

    static constexpr std::uint64_t dependent = ~std::uint64_t{0};
    static constexpr std::uint64_t redundant = dependent - 1;

    // Gaussian elimination as the rows come. Returns the slot that the row took.
    std::uint64_t insert(std::uint64_t slot, std::uint64_t key) noexcept {
        std::uint64_t coefficients = coefficients_of(key);
        std::uint64_t fingerprint = fingerprint_of(key) & fingerprint_mask();
        row* at = rows_.data() + slot;
        while (at->coefficients != 0) {
            coefficients ^= at->coefficients;
            fingerprint ^= at->fingerprint;
            if (coefficients == 0) [[unlikely]]
                return fingerprint == 0 ? redundant : dependent;
            const int skipped = std::countr_zero(coefficients);
            coefficients >>= skipped;
            at += skipped;
        }
        *at = {coefficients, fingerprint};
        return static_cast<std::uint64_t>(at - rows_.data());
    }

    // Solves from the last row to the first, and appends the columns of every block to solved_. After the first row of a
    // block the state of a column is just the word of that block.
    void substitute(std::uint64_t slots) {
        const std::uint64_t blocks = slots / 64;
        const std::uint64_t narrow = shape_.narrow_blocks(slots);
        const std::size_t base = solved_.size();
        solved_.resize(base + shape_.words_of(slots));
        std::array<std::uint64_t, 64> state{};
        for (std::uint64_t block = blocks; block-- > 0;) {
            for (std::uint64_t slot = block * 64 + 64; slot-- > block * 64;) {
                const std::uint64_t coefficients = rows_[slot].coefficients;
                const std::uint64_t fingerprint = rows_[slot].fingerprint;
                for (std::uint32_t column = 0; column < shape_.columns; ++column) {
                    const std::uint64_t above = state[column] << 1;
                    const auto bit = static_cast<unsigned>(__builtin_parityll(above & coefficients));
                    state[column] = above | ((bit ^ (fingerprint >> column & 1)) & 1);
                }
            }
            const std::uint64_t columns = shape_.columns - (block < narrow);
            std::copy_n(state.begin(), columns,
                        solved_.begin() + static_cast<std::ptrdiff_t>(base + block * shape_.columns -
                                                                      std::min(block, narrow)));
        }
    }

    std::uint64_t fingerprint_mask() const noexcept { return ~std::uint64_t{0} >> (64 - shape_.columns); }

    std::uint64_t shards_;
    row_shape shape_;
    std::array<std::uint64_t, layers> slots_{};
    std::vector<std::uint64_t> keys_; // of the layer at hand
    std::vector<std::uint64_t> bumped_;
    std::vector<std::uint64_t> starts_; // of the bucket's keys
    std::vector<std::uint64_t> taken_;  // slots of the bucket's rows, the last key's first
    std::vector<row> rows_;
    std::vector<std::uint64_t> codes_;
    std::vector<std::uint64_t> solved_;
};

} // namespace

std::unique_ptr<shard_builder> make_builder(std::uint64_t shards, const row_shape& shape) {
    return std::make_unique<builder>(shards, shape);
}

std::uint64_t expected_words(std::uint64_t keys, const row_shape& shape) noexcept {
    std::uint64_t words = 0;
    std::uint64_t codes = 0;
    for (std::size_t layer = 0; layer + 1 < layers; ++layer) {
        const std::uint64_t slots = slots_for(keys);
        if (slots == 0) continue;
        words += shape.words_of(slots);
        codes += code_words_of(slots);
        keys = keys / 64 * bumped_64ths + keys / 512 + 16; // no slot stays empty, and a few
    }
    return words + (codes + 7) / 8 * 8 + shape.words_of(last_slots_for(keys, 0)) + 8;
}

} // namespace bouncer::detail::ribbon
