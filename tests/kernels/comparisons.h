// Kernels against the specification: each function returns how many things were not as they should be, for each way.
#pragma once

#include "kernels/reference.h"
#include "kernels/tested_tables.h"
#include "support/random_hashes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::test {

// By the names of the ways; a way that did all as it should is not in it.
using differences = std::map<std::string, std::uint64_t>;
inline const differences none;

// A way to ask or to add: a kernel, or something with a fault to be found. Each says how many keys it found, or changed.
struct query_way {
    std::string name;
    std::function<std::size_t(const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                              std::size_t count, bool* answers)>
        run;
};
struct add_way {
    std::string name;
    std::function<std::size_t(std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
                              bool* known)>
        run;
    bool counts = true; // what it returns has a meaning
    bool tells = true;  // and what it writes to `known`
};

// Those of one row; of a row that is not whole, those that it has.
inline void append_ways(std::vector<query_way>& out, const std::string& name, const detail::bit_ops& row) {
    if (row.covers != nullptr)
        out.push_back({name + " covers",
                       [covers = row.covers](const std::uint64_t* words, extent at,
                                             const std::uint64_t* hashes, std::size_t count, bool* answers) {
                           std::size_t found = 0;
                           for (std::size_t i = 0; i < count; ++i)
                               found += answers[i] = covers(words, at, hashes[i]);
                           return found;
                       }});
    if (row.covers_each != nullptr) out.push_back({name + " covers_each", row.covers_each});
}

inline void append_ways(std::vector<add_way>& out, const std::string& name, const detail::bit_ops& row) {
    const auto one_by_one = [&](const char* what, auto set) {
        if (set == nullptr) return;
        out.push_back({name + what, [set](std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                          std::size_t count, bool* known) {
                           std::size_t changed = 0;
                           for (std::size_t i = 0; i < count; ++i)
                               changed += !(known[i] = set(words, at, hashes[i]));
                           return changed;
                       }});
    };
    const auto batch = [&](const char* what, auto each) {
        if (each == nullptr) return;
        out.push_back({name + what, each});
        const auto silent = [each](std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                   std::size_t count,
                                   bool*) { return each(words, at, hashes, count, nullptr); };
        out.push_back({name + what + " without answers", silent, true, false});
    };
    one_by_one(" set", row.set);
    one_by_one(" set_shared", row.set_shared);
    batch(" set_each", row.set_each);
    batch(" set_each_shared", row.set_each_shared);
    if (row.put_each == nullptr) return;
    const auto put = [each = row.put_each](std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                           std::size_t count, bool*) {
        each(words, at, hashes, count);
        return std::size_t{0};
    };
    out.push_back({name + " put_each", put, false, false});
}

template <class Way>
std::vector<Way> ways_of(const tested_form& form) {
    std::vector<Way> out;
    for (const named_table& each : all_tables()) append_ways(out, each.name, each.bits->of_form[form.row]);
    return out;
}

// Answers with one behind the last that nobody may write. What is expected is found wrong before it was written.
class checked_answers {
  public:
    void expect(std::vector<bool> wanted) {
        wanted_ = std::move(wanted);
        if (got_ == nullptr || wanted_.size() > room_) {
            room_ = wanted_.size();
            got_ = std::make_unique<bool[]>(room_ + 1);
        }
    }
    bool* spoiled() {
        for (std::size_t i = 0; i < wanted_.size(); ++i) got_[i] = !wanted_[i];
        got_[wanted_.size()] = behind_ = !behind_;
        return got_.get();
    }
    std::size_t wanted() const {
        return static_cast<std::size_t>(std::count(wanted_.begin(), wanted_.end(), true));
    }
    std::uint64_t wrong() const {
        std::uint64_t out = got_[wanted_.size()] != behind_;
        for (std::size_t i = 0; i < wanted_.size(); ++i) out += got_[i] != wanted_[i];
        return out;
    }
    std::uint64_t untouched_wrong() const { // nothing written at all
        std::uint64_t out = got_[wanted_.size()] != behind_;
        for (std::size_t i = 0; i < wanted_.size(); ++i) out += got_[i] == wanted_[i];
        return out;
    }

  private:
    std::vector<bool> wanted_;
    std::unique_ptr<bool[]> got_;
    std::size_t room_ = 0;
    bool behind_ = false;
};

// One filter, and every way on it. Whatever a way does to the words is undone before the next.
class comparison {
  public:
    comparison(const tested_form& form, std::uint64_t words) : filter(form, words), form_(&form) {}

    filter_words filter;
    differences found;

    // One batch, asked in every way.
    void ask(const std::vector<query_way>& ways, std::span<const std::uint64_t> hashes) {
        std::vector<bool> covered(hashes.size());
        for (std::size_t i = 0; i < hashes.size(); ++i)
            covered[i] = key(hashes[i]).covered_by(filter.words());
        answers_.expect(std::move(covered));
        for (const query_way& way : ways) {
            const std::size_t count =
                way.run(filter.words(), filter.at(), hashes.data(), hashes.size(), answers_.spoiled());
            note(way.name, answers_.wrong() + (count != answers_.wanted()));
        }
    }

    // One batch, added in every way.
    void add(const std::vector<add_way>& ways, std::span<const std::uint64_t> hashes) {
        expect_adds(hashes);
        for (const add_way& way : ways) {
            const std::size_t count =
                way.run(filter.words(), filter.at(), hashes.data(), hashes.size(), answers_.spoiled());
            std::uint64_t wrong = way.tells ? answers_.wrong() : answers_.untouched_wrong();
            wrong += way.counts && count != hashes.size() - answers_.wanted();
            for (const touched& each : touched_) wrong += filter.words()[each.word] != each.after;
            undo();
            note(way.name, wrong);
            // Of a large filter the other words are looked at by expect_untouched() at the end.
            if (filter.count() <= small) expect_untouched(way.name);
        }
    }
    // Remembers the words as they are, for expect_untouched().
    void keep() { kept_.assign(filter.words(), filter.words() + filter.count()); }
    void expect_untouched(const std::string& who) {
        if (kept_.size() != filter.count()) keep();
        const bool same = std::equal(kept_.begin(), kept_.end(), filter.words());
        note(who, !same + !filter.intact_around());
        if (!same) std::copy(kept_.begin(), kept_.end(), filter.words());
    }

  private:
    static constexpr std::uint64_t small = 1'024;
    struct touched {
        std::uint64_t word, before, after;
    };

    key_words key(std::uint64_t hash) const { return form_->key(filter.at(), hash); }
    void note(const std::string& who, std::uint64_t wrong) {
        if (wrong != 0) found[who] += wrong;
    }
    void expect_adds(std::span<const std::uint64_t> hashes) {
        touched_.clear();
        std::vector<bool> known(hashes.size());
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const key_words words = key(hashes[i]);
            for (const auto& [word, bits] : words) touched_.push_back({word, filter.words()[word], 0});
            known[i] = words.set_in(filter.words());
        }
        for (touched& each : touched_) each.after = filter.words()[each.word];
        undo();
        answers_.expect(std::move(known));
    }
    void undo() { // the first of several notes about a word has what it was
        for (std::size_t i = touched_.size(); i-- > 0;) filter.words()[touched_[i].word] = touched_[i].before;
    }

    const tested_form* form_;
    checked_answers answers_;
    std::vector<touched> touched_;
    std::vector<std::uint64_t> kept_;
};

// How far a batch reaches ahead depends on the size: these filters lie in the first cache, in the second, and beyond 4 MiB.
// (Of slices each one counts: those of a key with one or two are as large.)
inline constexpr std::uint64_t few_words = 8'000;
inline constexpr std::uint64_t many_words = (std::uint64_t{600} << 10) / 8;
inline constexpr std::uint64_t most_words = (std::uint64_t{5} << 20) / 8;
inline std::vector<std::uint64_t> all_sizes(const tested_form& form) {
    return {few_words, many_words, form.block_words == 0 && form.k == 2 ? 2 * most_words : most_words};
}

// Batches of these lengths: around the eights, and around what is on its way at once: of forms with blocks 4 and 16 eights and
// 64 keys, of others 16 keys.
inline std::vector<std::size_t> all_lengths(const tested_form& form) {
    std::vector<std::size_t> out;
    for (std::size_t length = 0; length <= (form.block_words != 0 ? 150u : 80u); ++length)
        out.push_back(length);
    for (const std::size_t length : {1'016u, 1'023u, 1'024u, 1'025u}) out.push_back(length);
    return out;
}

// ---- queries -----------------------------------------------------------------------------------------------------

// `count` hashes of each size of filter, in batches: two of three hashes are random, every third was added.
inline differences query_differences(const tested_form& form, const std::vector<query_way>& ways,
                                     std::uint64_t count, const std::vector<std::uint64_t>& sizes) {
    constexpr std::size_t batch = 2'999; // not of whole eights
    differences out;
    for (const std::uint64_t words : sizes) {
        comparison compared(form, words);
        compared.filter.fill_densely(1);
        const std::uint64_t added = std::min<std::uint64_t>(1'000, words / form.k / 8);
        for (std::uint64_t i = 0; i < added; ++i)
            form.key(compared.filter.at(), random_hash(2, i)).set_in(compared.filter.words());
        std::vector<std::uint64_t> hashes(batch);
        for (std::uint64_t first = 0; first < count; first += batch) {
            for (std::size_t i = 0; i < batch; ++i)
                hashes[i] = i % 3 == 0 ? random_hash(2, (first + i) / 3 % added) : random_hash(3, first + i);
            compared.ask(ways, hashes);
        }
        for (const auto& [who, wrong] : compared.found) out[who] += wrong;
    }
    return out;
}

// All bits are set but one: "no" is right exactly for bits of the key's words. An eight, and one more.
inline differences single_bit_differences(const tested_form& form, const std::vector<query_way>& ways,
                                          std::uint64_t batches) {
    comparison compared(form, std::max<std::size_t>(4, 3 * form.block_words));
    compared.filter.fill(~std::uint64_t{0});
    for (std::uint64_t i = 0; i < batches; ++i) {
        const auto hashes = random_hashes(9, 4, 9 * i);
        for (std::uint64_t bit = 0; bit < compared.filter.count() * 64; ++bit) {
            compared.filter.words()[bit / 64] = ~(std::uint64_t{1} << (bit % 64));
            compared.ask(ways, hashes);
            compared.filter.words()[bit / 64] = ~std::uint64_t{0};
        }
    }
    return compared.found;
}

// Batches of every length, whose hashes lie anywhere in a line of memory.
inline differences query_length_differences(const tested_form& form, const std::vector<query_way>& ways,
                                            std::uint64_t words) {
    comparison compared(form, words);
    compared.filter.fill_densely(5);
    const auto hashes = random_hashes(all_lengths(form).back() + 8, 8);
    for (const std::size_t length : all_lengths(form))
        compared.ask(ways, std::span(hashes).subspan(length % 8, length));
    return compared.found;
}

// Empty filters, full ones, and hashes from the ends of the range.
inline differences query_extreme_differences(const tested_form& form, const std::vector<query_way>& ways) {
    differences out;
    for (const std::uint64_t units : {1u, 2u, 7u, 64u}) {
        comparison compared(form, units * std::max<std::size_t>(1, form.block_words));
        for (const std::uint64_t value :
             {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000000}}) {
            compared.filter.fill(value);
            compared.ask(ways, extreme_hashes());
        }
        for (const auto& [who, wrong] : compared.found) out[who] += wrong;
    }
    return out;
}

// ---- adds --------------------------------------------------------------------------------------------------------

// Every length: keys of one eight share a block where there are few, and every fifth is the one before it. Each batch
// comes to a filter that is empty, and to one where about half of the keys are in.
inline differences add_length_differences(const tested_form& form, const std::vector<add_way>& ways,
                                          std::uint64_t words) {
    comparison compared(form, words);
    for (const bool dense : {false, true}) {
        if (dense) compared.filter.fill_densely(6);
        compared.keep();
        for (const std::size_t length : all_lengths(form)) {
            if (dense && length > 150) break;
            auto hashes = random_hashes(length + length % 8, 10 + length);
            for (std::size_t i = 4; i < hashes.size(); i += 5) hashes[i] = hashes[i - 1];
            compared.add(ways, std::span(hashes).subspan(length % 8));
        }
        compared.expect_untouched("one of them");
    }
    return compared.found;
}

// One bit is missing: the first key that has it is new, and no other.
inline differences single_bit_add_differences(const tested_form& form, const std::vector<add_way>& ways,
                                              std::uint64_t batches) {
    comparison compared(form, std::max<std::size_t>(4, 2 * form.block_words));
    compared.filter.fill(~std::uint64_t{0});
    for (std::uint64_t i = 0; i < batches; ++i) {
        const auto hashes = random_hashes(9, 7, 9 * i);
        for (std::uint64_t bit = 0; bit < compared.filter.count() * 64; ++bit) {
            compared.filter.words()[bit / 64] = ~(std::uint64_t{1} << (bit % 64));
            compared.keep();
            compared.add(ways, hashes);
            compared.filter.words()[bit / 64] = ~std::uint64_t{0};
        }
    }
    return compared.found;
}

// Runs of new keys, of old ones and mixtures, each of a length of its own, that fill a filter up: every way has a filter
// of its own, which is as the specification's after each batch.
inline differences add_run_differences(const tested_form& form, const std::vector<add_way>& ways,
                                       std::uint64_t batches) {
    constexpr std::uint64_t words = 3'200;
    differences out;
    std::uint64_t fresh = 0; // keys of stream 200 added so far
    filter_words expected(form, words);
    std::vector<filter_words> filters(ways.size(), expected);
    checked_answers known;
    const std::uint64_t filled_after = std::max<std::uint64_t>(1, 16 * 12 / std::max(12u, form.k));
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
        if (batch % filled_after == 0) { // later on nothing is new any more
            expected.fill(0);
            for (filter_words& each : filters) each.fill(0);
        }
        std::vector<std::uint64_t> hashes;
        for (std::uint64_t run = 0; run < 20; ++run) {
            const std::uint64_t draw = random_hash(300, batch * 20 + run);
            for (std::uint64_t left = draw % 37; left > 0; --left) {
                const bool is_new = draw >> 62 == 0 || (draw >> 62 == 1 && left % 3 == 0) || fresh == 0;
                hashes.push_back(random_hash(200, is_new ? fresh++ : (draw + left) % fresh));
            }
        }
        std::vector<bool> there(hashes.size());
        for (std::size_t i = 0; i < hashes.size(); ++i)
            there[i] = form.key(expected.at(), hashes[i]).set_in(expected.words());
        known.expect(std::move(there));
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const std::size_t changed = ways[i].run(filters[i].words(), filters[i].at(), hashes.data(),
                                                    hashes.size(), known.spoiled());
            std::uint64_t wrong = ways[i].tells ? known.wrong() : known.untouched_wrong();
            wrong += ways[i].counts && changed != hashes.size() - known.wanted();
            wrong += !(filters[i] == expected);
            wrong += !filters[i].intact_around();
            if (wrong != 0) out[ways[i].name] += wrong;
        }
    }
    return out;
}

inline differences add_extreme_differences(const tested_form& form, const std::vector<add_way>& ways) {
    differences out;
    for (const std::uint64_t units : {1u, 2u, 7u, 64u}) {
        comparison compared(form, units * std::max<std::size_t>(1, form.block_words));
        for (const std::uint64_t value :
             {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000000080000000}}) {
            compared.filter.fill(value);
            compared.keep();
            compared.add(ways, extreme_hashes());
            compared.add(ways, std::vector<std::uint64_t>(40, ~std::uint64_t{0}));
        }
        for (const auto& [who, wrong] : compared.found) out[who] += wrong;
    }
    return out;
}

} // namespace bouncer::test
