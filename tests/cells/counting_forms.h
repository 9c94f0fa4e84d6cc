// Every width and form of counting_bloom, and what its counters must be, by arithmetic of its own.
#pragma once

#include <bouncer/counting_bloom.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bouncer::test {

struct counting_form {
    std::uint32_t bits;
    cell_form form;
};
inline constexpr std::array counting_forms{
    counting_form{4, cell_form::two_lines}, counting_form{8, cell_form::two_lines},
    counting_form{8, cell_form::flat}, counting_form{16, cell_form::flat},
    counting_form{32, cell_form::flat}};

inline counting_bloom_parameters counters_for(const counting_form& which, std::uint64_t keys, double rate) {
    return plain_counting_bloom::solve({.keys = keys, .false_positive_rate = rate}, which.bits, which.form)
        .value();
}

// work(parameters) for every width and form.
template <class Work>
void for_each_form(std::uint64_t keys, double rate, Work work) {
    for (const counting_form& which : counting_forms) {
        const counting_bloom_parameters chosen = counters_for(which, keys, rate);
        SCOPED_TRACE(plain_counting_bloom::describe(chosen));
        work(chosen);
    }
}

// The counters one by one, a number each: what a sequence of adds and removes must leave behind.
class exact_counters {
  public:
    explicit exact_counters(const counting_bloom_parameters& chosen) : chosen_(chosen) {
        const std::uint64_t per_block = 2 * 512 / chosen.counter_bits;
        counters_.resize(chosen.form == cell_form::flat ? chosen.units : chosen.units * per_block);
    }

    // The numbers of the key's counters, each once. Counter c is the bits c * width and up of all words in a row.
    std::vector<std::uint64_t> places(std::uint64_t hash) const {
        std::vector<std::uint64_t> out;
        if (chosen_.form == cell_form::flat) {
            std::uint64_t x = hash;
            for (std::uint32_t i = 0; i < chosen_.k; ++i, x *= 0xbb67ae8584caa73bu)
                out.push_back(share_of(x, chosen_.units));
        } else {
            for (std::uint64_t line = 0; line < 2; ++line)
                for (std::uint32_t i = 0; i < chosen_.k / 2; ++i) {
                    const std::uint64_t drawn = mixed(hash, line) >> (8 * i);
                    const std::uint64_t byte = 64 * (2 * share_of(hash, chosen_.units) + line) + drawn % 64;
                    out.push_back(chosen_.counter_bits == 8 ? byte : 2 * byte + drawn / 64 % 2);
                }
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    // Whether a counter was zero.
    bool add(std::uint64_t hash) {
        bool was_zero = false;
        for (const std::uint64_t c : places(hash)) {
            was_zero |= counters_[c] == 0;
            counters_[c] += counters_[c] < most();
        }
        return was_zero;
    }
    void remove(std::uint64_t hash) {
        for (const std::uint64_t c : places(hash))
            counters_[c] -= counters_[c] != 0 && counters_[c] < sticky();
    }
    void add_all_of(const exact_counters& other) {
        for (std::size_t c = 0; c < counters_.size(); ++c)
            counters_[c] = std::max(counters_[c], std::min(counters_[c] + other.counters_[c], most()));
    }
    std::uint64_t count(std::uint64_t hash) const {
        std::uint64_t least = ~std::uint64_t{0};
        for (const std::uint64_t c : places(hash)) least = std::min(least, counters_[c]);
        return least;
    }
    std::uint64_t sticky_counters() const {
        std::uint64_t out = 0;
        for (const std::uint64_t counter : counters_) out += counter >= sticky();
        return out;
    }

    // How many words of the filter are not as they should be.
    template <class F>
    std::uint64_t wrong_words(const F& f) const {
        const std::size_t per_word = 64 / chosen_.counter_bits;
        std::uint64_t wrong = f.size_bytes() * per_word != counters_.size() * 8;
        for (std::size_t word = 0; word < counters_.size() / per_word; ++word) {
            std::uint64_t expected = 0;
            for (std::size_t i = 0; i < per_word; ++i)
                expected |= counters_[word * per_word + i] << (i * chosen_.counter_bits);
            wrong += f.data()[word] != expected;
        }
        return wrong;
    }

  private:
    static std::uint64_t mixed(std::uint64_t hash, std::uint64_t which) {
        const std::uint64_t product = hash * (which == 0 ? 0x6a09e667f3bcc909u : 0xbb67ae8584caa73bu);
        return product ^ product >> 32;
    }
    // floor(x * n / 2^64), by halves.
    static std::uint64_t share_of(std::uint64_t x, std::uint64_t n) {
        const std::uint64_t low = (x & 0xffffffffu) * n; // n is small here
        return ((x >> 32) * n + (low >> 32)) >> 32;
    }
    std::uint64_t sticky() const {
        return chosen_.counter_bits == 32 ? 0x80000000u : (std::uint64_t{1} << chosen_.counter_bits) - 1;
    }
    std::uint64_t most() const {
        return chosen_.counter_bits == 32 ? 0xc0000000u : (std::uint64_t{1} << chosen_.counter_bits) - 1;
    }

    counting_bloom_parameters chosen_;
    std::vector<std::uint64_t> counters_;
};

// A filter whose words are all `word`.
template <class F>
F filled_with(const counting_bloom_parameters& chosen, std::uint64_t word) {
    F f = F::create(chosen).value();
    for (const auto segment : detail::storage_access::segments(f))
        std::fill(segment.begin(), segment.end(), word);
    return f;
}

} // namespace bouncer::test
