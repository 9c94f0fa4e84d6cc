// Bytes are a kind, small parameters and a sequence of operations over 256 keys, done to a plain and to an atomic
// filter and checked against an exact set, by the model that the property tests have too. Aborts on a false negative and on
// every other broken law.
#include "kinds.h"

#include "support/filter_model.h"

#include <array>
#include <utility>
#include <vector>

namespace bouncer::fuzz {
namespace {

// Half of the keys are random hashes, half have structure: few bits, runs, the ends of the range.
std::uint64_t hash_of(std::uint8_t key) {
    if (key < 128) return detail::mix64(key);
    if (key < 192) return std::uint64_t{1} << (key - 128);
    return ~std::uint64_t{0} >> (key - 192);
}

template <class Plain>
struct ways_of_filters {
    using plain = Plain;
    using atomic = typename Plain::template with_words<atomic_words>;

    static void law(bool holds, const char* text) { fuzz::law(holds, text); }
    static constexpr bool bits() { return true; }
    static constexpr bool idempotent() { return true; }
    static constexpr bool foldable() { return true; }
    static constexpr bool released() { return true; }
    static Plain empty_like(const Plain& f) { return Plain::create(f.params()).value(); }
    static Plain other_size(const Plain& f) {
        using layout = typename Plain::layout_type;
        return Plain::create(layout::resized(f.params(), 2 * layout::size_units(f.params()))).value();
    }
    template <class F>
    static Plain plain_copy(const F& f) {
        return f.template clone<plain_words>().value();
    }
    static atomic atomic_copy(const Plain& f) { return f.template clone<atomic_words>().value(); }
    template <class F>
    static void assign(F& into, F&& from) {
        into = std::move(from);
    }
    static math::geometry shape_of(const Plain& f) { return f.shape(); }
    static constexpr bool is_random(std::uint64_t) { return false; }
};

template <class Plain>
class machine {
    using ways = ways_of_filters<Plain>;

  public:
    explicit machine(const typename Plain::parameters& chosen)
        : both_({}, Plain::create(chosen).value(), ways::atomic::create(chosen).value()) {}

    void run(input& in) {
        switch (in.below(9)) {
        case 0: both_.add(one(in)); break;
        case 1: both_.test_and_add(one(in)); break;
        case 2: both_.add_batch(batch(in), false); break;
        case 3: both_.test_and_add_batch(batch(in), true); break;
        case 4: {
            const auto hashes = batch(in);
            const auto threads = static_cast<unsigned>(in.below(4));
            both_.add_all(hashes, threads, threads + 1);
            break;
        }
        case 5: {
            const auto hashes = batch(in);
            both_.merge_if_within(hashes, [limit = in.real()](double) { return limit; });
            both_.merge_other(hashes);
            both_.merge(hashes);
            break;
        }
        case 6: both_.fold(in.number()); break;
        case 7: both_.clone(batch(in)); break;
        case 8: both_.clear(); break;
        }
    }

    void check() const {
        both_.check();
        std::array<std::uint64_t, 256> every;
        for (std::size_t key = 0; key < 256; ++key) every[key] = hash_of(static_cast<std::uint8_t>(key));
        both_.ask(every);
    }

  private:
    static std::vector<std::uint64_t> one(input& in) { return {hash_of(in.take<std::uint8_t>())}; }
    static std::vector<std::uint64_t> batch(input& in) {
        std::vector<std::uint64_t> hashes(in.below(64));
        for (std::uint64_t& hash : hashes) hash = hash_of(in.take<std::uint8_t>());
        return hashes;
    }

    test::filter_model<ways> both_;
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
