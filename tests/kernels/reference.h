// What the kernels are compared with: the specification of each form, key by key, and filters to compare on.
#pragma once

#include <bouncer/detail/forms.h>

#include "support/random_hashes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace bouncer::test {

using detail::extent;
using detail::word_bits;

// The words of one key and their bits.
class key_words {
  public:
    void add(word_bits each) { all_[count_++] = each; }
    const word_bits* begin() const { return all_.data(); }
    const word_bits* end() const { return all_.data() + count_; }
    std::size_t size() const { return count_; }
    word_bits& operator[](std::size_t i) { return all_[i]; }

    bool covered_by(const std::uint64_t* words) const {
        std::uint64_t missing = 0;
        for (const auto& [word, bits] : *this) missing |= bits & ~words[word];
        return missing == 0;
    }
    // Whether all were set before.
    bool set_in(std::uint64_t* words) const {
        std::uint64_t missing = 0;
        for (const auto& [word, bits] : *this) {
            missing |= bits & ~words[word];
            words[word] |= bits;
        }
        return missing == 0;
    }

  private:
    std::array<word_bits, 64> all_; // as much as any form has
    std::size_t count_ = 0;
};

// A form with one of its numbers of bits: all that the tests ask of it, so that they are compiled once.
struct tested_form {
    std::string name;
    std::size_t row; // of a table
    std::uint32_t k;
    std::size_t block_words;                                            // 0: without blocks
    std::uint64_t (*block_of)(std::uint64_t hash, std::uint64_t units); // null without blocks
    key_words (*key)(extent at, std::uint64_t hash);
    extent (*with_words)(std::uint64_t words,
                         std::uint32_t k);       // of about so many, at least one block or slice
    std::uint64_t (*words_of)(extent at);        // counted here
    std::uint64_t (*words_it_claims)(extent at); // and by the form

    extent of_words(std::uint64_t words) const { return with_words(words, k); }
    friend void PrintTo(const tested_form& form, std::ostream* out) { *out << form.name; }
};

template <class Form>
extent extent_of_words(std::uint64_t words, std::uint32_t k) {
    if constexpr (Form::block_words != 0)
        return {std::max<std::uint64_t>(1, words / Form::block_words), k};
    else if constexpr (std::is_same_v<Form, detail::slices>)
        return {64 * std::max<std::uint64_t>(1, words / k), k};
    else if constexpr (std::is_same_v<Form, detail::dcso>)
        return {64 * words - 9, k}; // any number of bits
    else
        return {64 * words, k};
}

template <class Form>
std::uint64_t words_of_extent(extent at) {
    if constexpr (Form::block_words != 0) return at.units * Form::block_words;
    if constexpr (std::is_same_v<Form, detail::slices>) return at.units / 64 * at.k;
    return (at.units + 63) / 64;
}

template <class Form>
tested_form form_with(std::uint32_t k) {
    tested_form out{.name = std::string(Form::name) + "_k" + std::to_string(k),
                    .row = detail::all_forms::index_of<Form>(),
                    .k = k,
                    .block_words = Form::block_words,
                    .block_of = nullptr,
                    .key =
                        [](extent at, std::uint64_t hash) {
                            key_words words;
                            for (typename Form::key its(at, hash); its.more();) words.add(its.next());
                            return words;
                        },
                    .with_words = extent_of_words<Form>,
                    .words_of = words_of_extent<Form>,
                    .words_it_claims = [](extent at) { return Form::words(at); }};
    if constexpr (Form::block_words != 0)
        out.block_of = [](std::uint64_t hash, std::uint64_t units) { return Form::block_of(hash, units); };
    return out;
}

// Of a form with blocks every number of bits, of another some.
inline std::vector<tested_form> tested_forms() {
    std::vector<tested_form> out;
    detail::all_forms::each([&]<class Form>(Form) {
        if constexpr (Form::block_words != 0) {
            for (std::uint32_t k = Form::k_step; k <= Form::k_max; k += Form::k_step)
                out.push_back(form_with<Form>(k));
        } else {
            for (const std::uint32_t k : {1u, 2u, 7u, 13u, 64u}) out.push_back(form_with<Form>(k));
        }
    });
    return out;
}

// The words of a filter, aligned as a filter's are, with a line before and one behind that nobody may write.
class filter_words {
  public:
    filter_words(const tested_form& form, std::uint64_t words)
        : at_(form.of_words(words)), count_(form.words_of(at_)), lines_((count_ + 7) / 8 + 2) {
        for (line& each : lines_)
            for (std::uint64_t& word : each.words) word = untouched;
        fill(0);
    }

    extent at() const { return at_; }
    std::uint64_t count() const { return count_; }
    std::uint64_t* words() { return lines_[1].words; }
    const std::uint64_t* words() const { return lines_[1].words; }

    void fill(std::uint64_t value) { std::fill_n(words(), count_, value); }
    // So full that a random key is in with a probability of 0.39 to 0.6: each of its bits decides often.
    void fill_densely(std::uint64_t stream) {
        const auto draws = static_cast<unsigned>(std::bit_width(at_.k));
        for (std::uint64_t i = 0; i < count_; ++i) {
            words()[i] = 0;
            for (unsigned draw = 0; draw < draws; ++draw) words()[i] |= random_hash(stream, i * draws + draw);
        }
    }

    friend bool operator==(const filter_words& a, const filter_words& b) {
        return std::equal(a.words(), a.words() + a.count_, b.words(), b.words() + b.count_);
    }
    // Whether the words around the filter's are as they were.
    bool intact_around() const {
        for (const std::uint64_t word : lines_.front().words)
            if (word != untouched) return false;
        for (std::uint64_t i = count_; i < (lines_.size() - 1) * 8; ++i)
            if (lines_[1 + i / 8].words[i % 8] != untouched) return false;
        return true;
    }

  private:
    static constexpr std::uint64_t untouched = 0x5a5a5a5a5a5a5a5au;
    struct alignas(64) line {
        std::uint64_t words[8] = {};
    };

    extent at_;
    std::uint64_t count_;
    std::vector<line> lines_;
};

} // namespace bouncer::test
