// Random adds, removes and merges on every width and form, plain and atomic side by side, against an exact multiset and
// against counters that are counted one by one.
#include "cells/counting_forms.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <map>
#include <random>

namespace bouncer::test {
namespace {

class model {
  public:
    model(const counting_bloom_parameters& chosen, std::uint64_t seed)
        : plain_(plain_counting_bloom::create(chosen).value()),
          atomic_(atomic_counting_bloom::create(chosen).value()), counters_(chosen), random_(seed) {}

    void step() {
        switch (random_() % 12) {
        case 0:
        case 1:
        case 2: add(any_key()); break;
        case 3:
        case 4:
        case 5:
        case 6: remove_one(); break;
        case 7: try_remove(any_key()); break;
        case 8: add_batch(); break;
        case 9: test_and_add(); break;
        case 10: merge(); break;
        default: ask(); break;
        }
        reached_ |= counters_.sticky_counters() != 0;
    }

    void check() {
        EXPECT_EQ(counters_.wrong_words(plain_), 0u);
        EXPECT_EQ(counters_.wrong_words(atomic_), 0u);
        EXPECT_TRUE(plain_ == atomic_);
        EXPECT_TRUE(plain_.view() == atomic_);
        EXPECT_EQ(plain_.sticky_counters(), counters_.sticky_counters());
        for (const auto& [hash, times] : keys_) {
            EXPECT_TRUE(plain_.may_contain(hash));
            EXPECT_TRUE(atomic_.may_contain(hash));
            EXPECT_EQ(plain_.count(hash), counters_.count(hash));
            if (!reached_) {
                EXPECT_GE(plain_.count(hash), times) << "a count below the truth";
            }
        }
        // The state is a function of the multiset, whatever came and went, as long as nothing was sticky.
        if (reached_) return;
        auto fresh = plain_counting_bloom::create(plain_.params()).value();
        for (const auto& [hash, times] : keys_)
            for (std::uint64_t i = 0; i < times; ++i) fresh.add(hash);
        EXPECT_TRUE(fresh == plain_);
    }

    // In some order of their own.
    void remove_everything() {
        while (!keys_.empty()) remove_one();
        EXPECT_EQ(counters_.wrong_words(plain_), 0u);
        if (reached_) return;
        EXPECT_EQ(plain_.fill_ratio(), 0);
        EXPECT_EQ(atomic_.fill_ratio(), 0);
    }
    bool reached_the_limit() const { return reached_; }

  private:
    std::uint64_t any_key() { return random_hash(7, random_() % 200); }
    std::vector<std::uint64_t> some_keys() {
        std::vector<std::uint64_t> out(random_() % 12);
        for (std::uint64_t& hash : out) hash = any_key();
        return out;
    }

    void add(std::uint64_t hash) {
        const bool was_new = counters_.add(hash);
        EXPECT_EQ(plain_.add(hash), was_new);
        EXPECT_EQ(atomic_.add(hash), was_new);
        ++keys_[hash];
    }
    void forget_one(std::map<std::uint64_t, std::uint64_t>::iterator at) {
        if (--at->second == 0) keys_.erase(at);
    }
    void remove_one() {
        if (keys_.empty()) return;
        auto at = keys_.lower_bound(any_key());
        if (at == keys_.end()) at = keys_.begin();
        counters_.remove(at->first);
        plain_.remove(at->first);
        atomic_.remove(at->first);
        forget_one(at);
    }
    // A key that is not there and yet seems to be must not be removed: the caller of try_remove has the same duty.
    void try_remove(std::uint64_t hash) {
        const auto at = keys_.find(hash);
        const bool seems = counters_.count(hash) != 0;
        if (at == keys_.end() && seems) return;
        EXPECT_EQ(plain_.try_remove(hash), seems);
        EXPECT_EQ(atomic_.try_remove(hash), seems);
        if (at == keys_.end()) return;
        counters_.remove(hash);
        forget_one(at);
    }
    void add_batch() {
        const auto hashes = some_keys();
        std::size_t changed = 0;
        for (const std::uint64_t hash : hashes) {
            changed += counters_.add(hash);
            ++keys_[hash];
        }
        EXPECT_EQ(plain_.add_batch(hashes), changed);
        EXPECT_EQ(atomic_.add_batch(hashes), changed);
    }
    void test_and_add() {
        const auto hashes = some_keys();
        answers of_plain(hashes.size());
        answers of_atomic(hashes.size());
        const std::size_t added = plain_.test_and_add(hashes, of_plain.span());
        EXPECT_EQ(atomic_.test_and_add(hashes, of_atomic.span()), added);
        std::size_t changed = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const bool was_new = counters_.add(hashes[i]);
            ++keys_[hashes[i]];
            EXPECT_EQ(of_plain[i], !was_new);
            EXPECT_EQ(of_atomic[i], !was_new);
            changed += was_new;
        }
        EXPECT_EQ(added, changed);
    }
    void merge() {
        auto other = plain_counting_bloom::create(plain_.params()).value();
        exact_counters others(plain_.params());
        for (const std::uint64_t hash : some_keys()) {
            other.add(hash);
            others.add(hash);
            ++keys_[hash];
        }
        counters_.add_all_of(others);
        EXPECT_TRUE(plain_.merge(other));
        EXPECT_TRUE(atomic_.merge(other.view()));
    }
    // Every way of asking gives one answer.
    void ask() {
        auto hashes = random_hashes(random_() % 40, 8, random_() % 1000);
        for (const std::uint64_t hash : some_keys()) hashes.push_back(hash);
        answers of_plain(hashes.size());
        answers of_view(hashes.size());
        const std::size_t found = plain_.may_contain(hashes, of_plain.span());
        EXPECT_EQ(atomic_.view().may_contain(hashes, of_view.span()), found);
        std::size_t yes = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const bool expected = counters_.count(hashes[i]) != 0;
            EXPECT_EQ(of_plain[i], expected);
            EXPECT_EQ(of_view[i], expected);
            EXPECT_EQ(atomic_.may_contain(hashes[i]), expected);
            EXPECT_EQ(atomic_.count(hashes[i]), counters_.count(hashes[i]));
            yes += expected;
        }
        EXPECT_EQ(yes, found);
    }

    plain_counting_bloom plain_;
    atomic_counting_bloom atomic_;
    exact_counters counters_;
    std::map<std::uint64_t, std::uint64_t> keys_; // how often each is there
    std::mt19937_64 random_;
    bool reached_ = false; // a counter was sticky at some time
};

// Room for all keys, and far too little: there counters are shared and reach their limits.
TEST(counting_model, is_a_multiset) {
    for (const std::uint64_t room : {1u, 40u, 400u})
        for (const double rate : {0.2, 0.01, 1e-4})
            for_each_form(room, rate, [&](const counting_bloom_parameters& chosen) {
                for (std::uint64_t seed = 0; seed < scaled(20); ++seed) {
                    model each(chosen, seed);
                    for (int round = 0; round < 10; ++round) {
                        for (int i = 0; i < 20; ++i) each.step();
                        each.check();
                    }
                    each.remove_everything();
                    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
                }
            });
}

// The runs above see both sides: some stay below every limit, and some of 4 bits do not.
TEST(counting_model, reaches_the_limit_of_narrow_counters_only) {
    const auto reaches = [](const counting_bloom_parameters& chosen) {
        model each(chosen, 1);
        for (int i = 0; i < 400; ++i) each.step();
        return each.reached_the_limit();
    };
    EXPECT_TRUE(reaches(counters_for({4, cell_form::two_lines}, 1, 0.2)));
    EXPECT_FALSE(reaches(counters_for({4, cell_form::two_lines}, 4'000, 0.01)));
    EXPECT_FALSE(reaches(counters_for({16, cell_form::flat}, 1, 0.2)));
    EXPECT_FALSE(reaches(counters_for({32, cell_form::flat}, 1, 0.2)));
}

TEST(counting_model, clear_and_clone) {
    for_each_form(500, 0.01, [](const counting_bloom_parameters& chosen) {
        const auto hashes = random_hashes(500, 1);
        auto f = plain_counting_bloom::create(chosen).value();
        f.add_batch(hashes);
        auto copy = f.clone<atomic_words>().value();
        EXPECT_TRUE(copy == f);
        EXPECT_TRUE(f.view().clone().value() == f);
        for (const std::uint64_t hash : hashes) copy.remove(hash);
        EXPECT_EQ(copy.fill_ratio(), 0);
        EXPECT_TRUE(f.may_contain(hashes[0])) << "the copy has words of its own";
        f.clear();
        EXPECT_TRUE(copy == f);
    });
}

// Extreme hashes have cells like any other, and batches of every length answer as single keys.
TEST(counting_model, extreme_hashes_and_every_length) {
    for_each_form(300, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        exact_counters counters(chosen);
        const auto hashes = extreme_hashes();
        for (const std::uint64_t hash : hashes) EXPECT_EQ(f.add(hash), counters.add(hash));
        EXPECT_EQ(counters.wrong_words(f), 0u);
        const auto asked = random_hashes(100, 2);
        for (std::size_t length = 0; length <= asked.size(); ++length) {
            answers got(length + 1, true);
            std::size_t yes = 0;
            const std::size_t found = f.may_contain(std::span(asked).first(length), got.span().first(length));
            for (std::size_t i = 0; i < length; ++i) {
                EXPECT_EQ(got[i], counters.count(asked[i]) != 0);
                yes += got[i];
            }
            EXPECT_EQ(found, yes);
            EXPECT_TRUE(got[length]) << "written behind the answers";
        }
        for (const std::uint64_t hash : hashes) f.remove(hash);
        EXPECT_EQ(f.sticky_counters() == 0, f.fill_ratio() == 0);
    });
}

} // namespace
} // namespace bouncer::test
