// Bytes are a kind, small parameters and a sequence of operations over 256 keys, done to a plain and to an atomic
// filter and checked against an exact set. Aborts on a false negative and on every other broken law.
#include "kinds.h"

#include <array>
#include <bitset>
#include <utility>
#include <vector>

namespace bouncer::fuzz {
namespace {

using key_set = std::bitset<256>;

// Half of the keys are random hashes, half have structure: few bits, runs, the ends of the range.
std::uint64_t hash_of(std::uint8_t key) {
    if (key < 128) return detail::mix64(key);
    if (key < 192) return std::uint64_t{1} << (key - 128);
    return ~std::uint64_t{0} >> (key - 192);
}

template <class Plain>
class machine {
  public:
    using Atomic = typename Plain::template with_words<atomic_words>;

    explicit machine(const typename Plain::parameters& chosen)
        : plain_(Plain::create(chosen).value()), atomic_(Atomic::create(chosen).value()) {}

    void run(input& in) {
        switch (in.below(9)) {
        case 0: add(in.take<std::uint8_t>()); break;
        case 1: test_and_add(in.take<std::uint8_t>()); break;
        case 2: add_batch(batch(in)); break;
        case 3: test_and_add_batch(batch(in)); break;
        case 4: add_all(batch(in), static_cast<unsigned>(in.below(4))); break;
        case 5: merge(batch(in), in); break;
        case 6:
            if constexpr (foldable<Plain>) fold(in.number());
            break;
        case 7: clone(batch(in)); break;
        case 8:
            plain_.clear();
            atomic_.clear();
            keys_.reset();
            break;
        }
    }

    // The bits are a function of the set, and every way of asking gives one answer.
    void check() const {
        law(plain_ == made_of(keys_), "plain bits are those of the set");
        law(atomic_ == plain_, "atomic bits are those of the plain filter");
        const auto view = atomic_.view();
        std::array<std::uint64_t, 256> hashes;
        std::array<bool, 256> of_plain;
        std::array<bool, 256> of_view;
        for (std::size_t key = 0; key < 256; ++key) hashes[key] = hash_of(static_cast<std::uint8_t>(key));
        const std::size_t found = plain_.may_contain(hashes, of_plain);
        law(view.may_contain(hashes, of_view) == found, "the view finds as many");
        law(of_plain == of_view, "the view answers as plain");
        for (std::size_t key = 0; key < 256; ++key) {
            const bool answer = plain_.may_contain(hashes[key]);
            law(answer || !keys_[key], "no false negative");
            law(atomic_.may_contain(hashes[key]) == answer, "atomic answers as plain");
            law(of_plain[key] == answer, "a batch answers as single calls");
        }
        law(keys_.any() || found == 0, "an empty filter says no");
        const double rate = plain_.expected_fpr();
        law(rate >= 0 && rate <= 1, "a rate is a rate");
        law((plain_.approximate_size() > 0) == keys_.any(), "a size for keys, none for none");
    }

  private:
    Plain made_of(const key_set& keys) const {
        Plain out = Plain::create(plain_.params()).value();
        for (std::size_t key = 0; key < 256; ++key)
            if (keys[key]) out.add(hash_of(static_cast<std::uint8_t>(key)));
        return out;
    }

    // Up to 63 keys; remembers them in `pending_`.
    std::vector<std::uint64_t> batch(input& in) {
        std::vector<std::uint64_t> hashes(in.below(64));
        pending_.reset();
        for (std::uint64_t& hash : hashes) {
            const auto key = in.take<std::uint8_t>();
            pending_.set(key);
            hash = hash_of(key);
        }
        return hashes;
    }

    void add(std::uint8_t key) {
        const bool before = plain_.may_contain(hash_of(key));
        law(plain_.add(hash_of(key)) == !before, "plain add says whether the key looked new");
        law(atomic_.add(hash_of(key)) == !before, "atomic add says whether the key looked new");
        law(plain_.may_contain(hash_of(key)), "an added key is there");
        keys_.set(key);
    }

    void test_and_add(std::uint8_t key) {
        const bool before = plain_.may_contain(hash_of(key));
        law(plain_.test_and_add(hash_of(key)) == before, "plain test_and_add says what was");
        law(atomic_.test_and_add(hash_of(key)) == before, "atomic test_and_add says what was");
        keys_.set(key);
    }

    void add_batch(const std::vector<std::uint64_t>& hashes) {
        std::size_t changed = 0;
        for (const std::uint64_t hash : hashes) changed += plain_.add(hash);
        law(atomic_.add_batch(hashes) == changed, "add_batch counts what single adds count");
        keys_ |= pending_;
    }

    void test_and_add_batch(const std::vector<std::uint64_t>& hashes) {
        std::array<bool, 64> answers{};
        const std::size_t added = plain_.test_and_add(hashes, answers);
        std::size_t fresh = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            law(atomic_.test_and_add(hashes[i]) == answers[i], "a batch answers as single calls");
            fresh += !answers[i];
        }
        law(added == fresh, "a batch counts the new");
        keys_ |= pending_;
    }

    void add_all(const std::vector<std::uint64_t>& hashes, unsigned threads) {
        plain_.add_all(hashes, threads);
        atomic_.add_all(hashes, threads + 1);
        keys_ |= pending_;
    }

    void merge(const std::vector<std::uint64_t>& hashes, input& in) {
        const double limit = in.real();
        Plain other = made_of({});
        other.add_batch(hashes);
        const double together = plain_.union_size(other).value();
        Plain joined = other.clone().value();
        const double after = joined.merge(plain_).value();
        const auto done = plain_.merge_if_within(other, limit);
        if (limit > 0 && limit < 1) {
            law(done.has_value() == (after <= limit), "merge_if_within keeps its limit");
            law(done.has_value() || done.error().code == error_code::full, "beyond the limit is full");
        } else {
            law(!done && done.error().code == error_code::invalid_argument, "a limit that is no rate");
        }
        if (!done) {
            check(); // nothing has changed
            law(plain_.merge(other).value() == after, "merge returns the rate after");
        }
        law(atomic_.merge(other.view()).value() == after, "atomic merges as plain");
        law(plain_ == joined, "a union commutes");
        law(plain_.approximate_size() == together, "union_size forecasts the merge");
        keys_ |= pending_;
    }

    void fold(std::uint64_t factor) requires(foldable<Plain>) {
        auto small = atomic_.fold(factor);
        if (!small) {
            law(small.error().code == error_code::invalid_argument, "a factor that does not divide");
            law(factor != 1, "everything folds by 1");
            return;
        }
        law(small->size_bytes() * factor == plain_.size_bytes(), "a fold divides the size");
        plain_ = plain_.fold(factor).value();
        atomic_ = std::move(*small);
        law(plain_ == atomic_, "plain and atomic fold alike");
    }

    void clone(const std::vector<std::uint64_t>& hashes) {
        Plain copy = atomic_.template clone<plain_words>().value();
        copy.add_batch(hashes);
        check(); // a copy does not write through
        plain_ = std::move(copy);
        atomic_ = plain_.template clone<atomic_words>().value();
        keys_ |= pending_;
    }

    Plain plain_;
    Atomic atomic_;
    key_set keys_;
    key_set pending_;
};

// Kinds that are no bit filters: a plain and an atomic one that are told the same stay the same, and have every key that
// their kind may not forget yet.
template <class Plain>
class twins {
  public:
    using Atomic = typename Plain::template with_words<atomic_words>;

    explicit twins(const typename Plain::parameters& chosen)
        : plain_(Plain::create(chosen).value()), atomic_(Atomic::create(chosen).value()) {}

    void run(input& in) {
        const auto key = in.take<std::uint8_t>();
        const std::uint64_t hash = hash_of(key);
        const bool before = plain_.may_contain(hash);
        switch (in.below(6)) {
        case 0: add(hash, before); break;
        case 1:
            law(plain_.test_and_add(hash) == before, "plain test_and_add says what was");
            law(atomic_.test_and_add(hash) == before, "atomic test_and_add says what was");
            break;
        case 2:
            law(plain_.add_batch({&hash, 1}) == atomic_.add_batch({&hash, 1}), "batches count alike");
            break;
        case 3: move_on(hash, key, in); return;
        case 4: {
            Plain copy = atomic_.template clone<plain_words>().value();
            law(copy == plain_, "a clone is the same");
            plain_ = std::move(copy);
            return;
        }
        case 5:
            plain_.clear();
            atomic_.clear();
            count_.fill(0);
            return;
        }
        law(plain_.may_contain(hash), "an added key is there");
        ++count_[key];
        if constexpr (is_window) added_at_[key] = plain_.epoch();
    }

    void check() const {
        law(atomic_ == plain_, "atomic and plain are the same");
        for (std::size_t key = 0; key < 256; ++key) {
            const std::uint64_t hash = hash_of(static_cast<std::uint8_t>(key));
            const bool answer = plain_.may_contain(hash);
            law(answer || !must_have(key), "no false negative");
            law(atomic_.may_contain(hash) == answer, "atomic answers as plain");
            bool batched = !answer;
            plain_.may_contain({&hash, 1}, {&batched, 1});
            law(batched == answer, "a batch answers as single calls");
        }
        const double rate = plain_.expected_fpr();
        law(rate >= 0 && rate <= 1, "a rate is a rate");
    }

  private:
    static constexpr bool is_window = requires(const Plain& f) { f.window_steps(); };

    // A window says whether something changed: a key of an earlier step looks old, and is still new to this one. The
    // others say whether it looked new.
    void add(std::uint64_t hash, bool before) {
        if constexpr (is_window) {
            const Plain old = plain_.clone().value();
            const bool changed = plain_.add(hash);
            law(changed || before, "what looked new changes a window");
            law(changed == !(old == plain_), "plain add says whether something changed");
            law(atomic_.add(hash) == changed, "atomic add says whether something changed");
            law(!plain_.add(hash), "a second add within a step changes nothing");
        } else {
            law(plain_.add(hash) == !before, "plain add says whether the key looked new");
            law(atomic_.add(hash) == !before, "atomic add says whether the key looked new");
        }
    }

    bool must_have(std::size_t key) const {
        if (count_[key] == 0) return false;
        if constexpr (is_window) return plain_.epoch() - added_at_[key] <= plain_.window_steps();
        return Plain::no_false_negatives;
    }

    // What the kind has beyond adds: a remove of a key that is there, or the next step of a window.
    void move_on(std::uint64_t hash, std::uint8_t key, input& in) {
        if constexpr (requires { plain_.remove(hash); }) {
            if (count_[key] == 0) return;
            --count_[key];
            plain_.remove(hash);
            atomic_.remove(hash);
        } else if constexpr (requires { plain_.rotate_to(1); }) {
            const std::uint64_t to = plain_.epoch() + in.below(12);
            law(plain_.rotate_to(to).has_value() == atomic_.rotate_to(to).has_value(), "they rotate alike");
        }
    }

    Plain plain_;
    Atomic atomic_;
    std::array<unsigned, 256> count_{};         // adds less removes
    std::array<std::uint64_t, 256> added_at_{}; // of a window: the last step in which it was
};

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer::fuzz;
    input in(data, size);
    with_a_kind<bouncer::plain_words>(in, [&]<class F>() {
        typename F::parameters chosen;
        small(in, chosen);
        using pair = std::conditional_t<is_bit_filter<F>::value, machine<F>, twins<F>>;
        pair both(chosen);
        for (int steps = 0; steps < 32 && !in.empty(); ++steps) {
            both.run(in);
            both.check();
        }
    });
    return 0;
}
