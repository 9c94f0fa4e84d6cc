// A stateful model: random sequences of operations on every kind, plain and atomic side by side, against an exact set
// of the hashes added. The state of a filter is a function of that set (of the multiset, where a kind counts), so after
// every step the filter must equal one made afresh from the set; the other laws (no false negative, equal answers by
// every way of asking) are checked on their own.
#include "property/generators.h"
#include "support/subject.h"

#include <memory>
#include <unordered_set>

namespace bouncer::test {
namespace {

enum class action : int {
    add,
    add_batch,
    test_and_add,
    test_and_add_batch,
    ask,
    add_all,
    merge,
    merge_if_within,
    merge_other,
    fold,
    clear,
    clone
};

struct step {
    action what = action::add;
    std::vector<std::uint16_t> keys;
    std::uint8_t number = 0; // a fold factor, a count of threads, … whatever the action needs
};

void showValue(const step& each, std::ostream& out) {
    static constexpr const char* names[] = {"add",         "add_batch", "test_and_add", "test_and_add_batch",
                                            "ask",         "add_all",   "merge",        "merge_if_within",
                                            "merge_other", "fold",      "clear",        "clone"};
    out << names[static_cast<int>(each.what)] << "(number " << int{each.number} << ", keys";
    for (const auto key : each.keys) out << ' ' << key;
    out << ")";
}

rc::Gen<step> any_step() {
    const auto what = rc::gen::weightedElement<action>({{6, action::add},
                                                        {6, action::add_batch},
                                                        {6, action::test_and_add},
                                                        {6, action::test_and_add_batch},
                                                        {4, action::ask},
                                                        {2, action::add_all},
                                                        {3, action::merge},
                                                        {3, action::merge_if_within},
                                                        {1, action::merge_other},
                                                        {2, action::fold},
                                                        {1, action::clear},
                                                        {2, action::clone}});
    return rc::gen::build<step>(rc::gen::set(&step::what, what), rc::gen::set(&step::keys, some_keys()),
                                rc::gen::set(&step::number));
}

// A plain function, since RC_ASSERT at every place triples the time to compile.
void law(bool holds, const char* text) {
    if (!holds) RC_FAIL(text);
}

// Room for the answers of a batch: std::vector<bool> has no span.
struct answer_buffer {
    explicit answer_buffer(std::size_t count) : bools(new bool[count]()), span(bools.get(), count) {}
    std::unique_ptr<bool[]> bools;
    std::span<bool> span;
};

class model {
  public:
    // `k` is the plain kind.
    model(const kind& k, const goal& wanted)
        : k(k), plain_(k.create(wanted).value()), atomic_(k.other().create(wanted).value()) {
        law(plain_.params() == atomic_.params(), "one goal gives one set of parameters");
        check();
    }

    void run(const step& next) {
        const auto hashes = hashes_of(next.keys);
        switch (next.what) {
        case action::add: add(hashes); break;
        case action::add_batch: add_batch(hashes, next.number); break;
        case action::test_and_add: test_and_add(hashes); break;
        case action::test_and_add_batch: test_and_add_batch(hashes, next.number); break;
        case action::ask: ask(hashes); return; // adds nothing
        case action::add_all: add_all(hashes, next.number); break;
        case action::merge: merge(hashes); break;
        case action::merge_if_within:
            if (!merge_if_within(hashes, next.number)) return;
            break;
        case action::merge_other: merge_other(hashes); return;
        case action::fold:
            if (k.is.bits && k.is.foldable) fold(next.number);
            return;
        case action::clear:
            plain_.clear();
            atomic_.clear();
            keys_.clear();
            return;
        case action::clone: clone(hashes); break;
        }
        for (const std::uint16_t key : next.keys)
            if (!k.is.idempotent || !keys_.contains(key)) keys_.insert(key);
    }

    void check() const {
        const subject fresh = made_afresh();
        const auto view = atomic_.view();
        law(plain_ == fresh, "plain bits are those of the set");
        law(atomic_ == fresh, "atomic bits are those of the set");
        law(view == fresh, "the view's bits are those of the set");

        const std::vector<std::uint64_t> added = hashes_of({keys_.begin(), keys_.end()});
        for (const std::uint64_t hash : added) law(plain_.may_contain(hash), "no false negative");
        answer_buffer answers(added.size());
        law(plain_.may_contain(added, answers.span) == added.size(), "no false negative in a batch");
        law(std::all_of(answers.span.begin(), answers.span.end(), [](bool yes) { return yes; }),
            "a batch says yes to every key");
        check_estimates();
    }

    // Any key: every way of asking gives one answer.
    void ask(const std::vector<std::uint64_t>& hashes) const {
        const auto view = plain_.view();
        answer_buffer of_plain(hashes.size());
        answer_buffer of_atomic(hashes.size());
        answer_buffer of_view(hashes.size() / 2); // the shorter span counts
        const std::size_t found = plain_.may_contain(hashes, of_plain.span);
        law(atomic_.may_contain(hashes, of_atomic.span) == found, "atomic and plain batches find as many");
        law(view.may_contain(hashes, of_view.span) <= found, "half a batch finds no more than all of it");
        std::size_t yes = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const bool answer = plain_.may_contain(hashes[i]);
            yes += answer;
            law(of_plain.span[i] == answer, "plain: batch as single");
            law(of_atomic.span[i] == answer, "atomic: batch as single");
            law(i >= of_view.span.size() || of_view.span[i] == answer, "view: batch as single");
            law(atomic_.may_contain(hashes[i]) == answer, "atomic answers as plain");
            if (k.other().is.released)
                law(atomic_.may_contain_acquire(hashes[i]) == answer, "acquire answers as relaxed");
            law(view.may_contain(hashes[i]) == answer, "the view answers as plain");
            law(!(answer && keys_.empty()), "an empty filter says no");
        }
        law(yes == found, "a batch counts its answers");
    }

  private:
    subject made_afresh() const {
        subject out = k.create(plain_.params()).value();
        for (const auto key : keys_) out.add(hash_of(key));
        return out;
    }

    void add(const std::vector<std::uint64_t>& hashes) {
        for (const std::uint64_t hash : hashes) {
            const bool before = plain_.may_contain(hash);
            law(plain_.add(hash) == !before, "plain add says whether the key looked new");
            law(atomic_.add(hash) == !before, "atomic add says whether the key looked new");
            law(plain_.may_contain(hash) && atomic_.may_contain(hash), "an added key is there");
        }
    }

    // One by batch, the other one by one; which is which, the number says.
    void add_batch(const std::vector<std::uint64_t>& hashes, std::uint8_t number) {
        const auto both = [&](subject& batched, subject& single) {
            std::size_t changed = 0;
            for (const std::uint64_t hash : hashes) changed += single.add(hash);
            law(batched.add_batch(hashes) == changed, "add_batch counts what single adds count");
        };
        if (number % 2 == 0)
            both(plain_, atomic_);
        else
            both(atomic_, plain_);
    }

    void add_all(const std::vector<std::uint64_t>& hashes, std::uint8_t number) {
        if (k.is.bits) {
            plain_.add_all(hashes, number % 5u);
            atomic_.add_all(hashes, number % 3u);
        } else {
            add_batch(hashes, number);
        }
    }

    void test_and_add(const std::vector<std::uint64_t>& hashes) {
        for (const std::uint64_t hash : hashes) {
            const bool before = plain_.may_contain(hash);
            law(plain_.test_and_add(hash) == before, "plain test_and_add says what was");
            law(atomic_.test_and_add(hash) == before, "atomic test_and_add says what was");
        }
    }

    void test_and_add_batch(const std::vector<std::uint64_t>& hashes, std::uint8_t number) {
        const auto both = [&](subject& batched, subject& single) {
            answer_buffer answers(hashes.size());
            const std::size_t added = batched.test_and_add(hashes, answers.span);
            std::size_t fresh = 0;
            for (std::size_t i = 0; i < hashes.size(); ++i) {
                const bool before = single.may_contain(hashes[i]);
                law(single.test_and_add(hashes[i]) == before, "test_and_add says what was");
                law(answers.span[i] == before, "a batch of test_and_add answers as single ones");
                fresh += !before;
            }
            law(added == fresh, "a batch of test_and_add counts the new");
        };
        if (number % 2 == 0)
            both(plain_, atomic_);
        else
            both(atomic_, plain_);
    }

    // A union of either order and either access; the first argument of merge stays as it was.
    void merge(const std::vector<std::uint64_t>& hashes) {
        subject other = k.create(plain_.params()).value();
        other.add_batch(hashes);
        double together = 0;
        if (k.is.bits) {
            together = plain_.union_size(other).value();
            law(atomic_.intersection_size(other).value() >= 0, "no negative intersection");
        }
        subject reversed = other.clone();
        const double rate = reversed.merge(atomic_).value();
        law(plain_.merge(other).value() == rate, "a union commutes");
        law(atomic_.merge(other.view()).value() == rate, "atomic merges as plain");
        law(plain_ == reversed, "a union commutes, bit by bit");
        law(plain_.expected_fpr() == rate, "merge returns the rate after");
        if (k.is.bits) law(plain_.approximate_size() == together, "union_size forecasts the merge");
        if (k.is.idempotent) law(plain_.merge(plain_).value() == rate, "a merge with itself changes nothing");
    }

    // True: the keys are in.
    bool merge_if_within(const std::vector<std::uint64_t>& hashes, std::uint8_t number) {
        subject other = k.create(plain_.params()).value();
        other.add_batch(hashes);
        subject joined = plain_.clone();
        const double after = joined.merge(other).value();
        const double limit = number < 8 ? after : std::pow(10.0, -(number % 7) - 0.5);
        const auto of_plain = plain_.merge_if_within(other, limit);
        const auto of_atomic = atomic_.merge_if_within(other, limit);
        if (!(limit > 0) || !(limit < 1)) { // an empty union, or a full one, as the limit
            law(!of_plain && of_plain.error().code == error_code::invalid_argument,
                "a limit that is no rate is refused");
            return false;
        }
        law(of_plain.has_value() == (after <= limit), "plain merges if within the limit");
        law(of_atomic.has_value() == (after <= limit), "atomic merges if within the limit");
        if (!of_plain) {
            law(of_plain.error().code == error_code::full, "beyond the limit is full");
            return false;
        }
        law(*of_plain == after, "merge_if_within returns the rate after");
        return true;
    }

    // Another size is refused, and changes nothing.
    void merge_other(const std::vector<std::uint64_t>& hashes) {
        subject other = k.create(goal{.keys = 2 * hashes.size() + 50, .false_positive_rate = 0.017}).value();
        if (other.params() == plain_.params()) return;
        other.add_batch(hashes);
        const auto is_mismatch = [](const result<double>& refused) {
            law(!refused && refused.error().code == error_code::mismatch, "another size is a mismatch");
        };
        is_mismatch(plain_.merge(other));
        is_mismatch(atomic_.merge_if_within(other, 0.5));
        if (k.is.bits) is_mismatch(plain_.union_size(other));
    }

    // As if the same keys had been added to a filter of 1/factor of the size; then goes on with that one.
    void fold(std::uint8_t number) {
        const std::uint64_t factor = number % 9u;
        auto small = atomic_.fold(factor);
        law(factor != 0 || !small, "nothing folds by 0");
        law(factor != 1 || small, "everything folds by 1");
        if (!small) {
            law(small.error().code == error_code::invalid_argument,
                "a factor that does not divide is refused");
            return;
        }
        law(small->size_bytes() * factor == plain_.size_bytes(), "a fold divides the size");
        plain_.assign(plain_.fold(factor).value());
        atomic_.assign(std::move(*small));
        law(plain_ == atomic_, "plain and atomic fold alike");
    }

    // A copy does not write through; then goes on with it.
    void clone(const std::vector<std::uint64_t>& hashes) {
        subject copy = atomic_.clone(words_access::plain);
        law(copy == plain_, "a clone has the same bits");
        copy.add_batch(hashes);
        check();
        plain_.assign(std::move(copy));
        atomic_.assign(plain_.clone(words_access::atomic));
    }

    void check_estimates() const {
        const double fill = plain_.fill_ratio();
        const double size = plain_.approximate_size();
        law((fill > 0) == !keys_.empty(), "a fill for keys, none for none");
        law((size > 0) == !keys_.empty(), "a size for keys, none for none");
        law(atomic_.fill_ratio() == fill, "atomic fill as plain");
        law(atomic_.approximate_size() == size, "atomic size as plain");
        law(atomic_.view().approximate_size() == size, "the view's size as plain");

        const double rate = plain_.expected_fpr();
        law(rate >= 0 && rate <= 1, "a rate is a rate");
        law(atomic_.expected_fpr() == rate, "atomic rate as plain");
        law(!(keys_.empty() && rate > 0), "an empty filter has a rate of 0");
        if (k.is.bits) check_fill(fill, size);
    }

    void check_fill(double fill, double size) const {
        const math::geometry shape = k.shape_of(plain_.params());
        const auto keys = static_cast<double>(keys_.size());
        const auto bits = static_cast<double>(shape.total_bits());
        const double most =
            std::min(1.0, keys * static_cast<double>(shape.k()) / bits); // every throw a new bit
        law(fill <= most * (1 + 1e-12), "no more bits than throws");
        law(size <= math::keys_for_zero_fraction(shape, 1 - most) * (1 + 1e-9),
            "no more keys than throws allow");
        // Both sides, for random hashes. 7 sigma and two bits: some 10^4 filters are looked at, most of them small.
        if (std::any_of(keys_.begin(), keys_.end(), is_structured)) return;
        const double sigma = std::sqrt(math::fill_variance(shape, keys));
        law(std::abs(fill - math::expected_fill(shape, keys)) <= 7 * sigma + 2 / bits,
            "the fill is that of so many random keys");
    }

    const kind& k;
    subject plain_;
    subject atomic_;
    std::unordered_multiset<std::uint16_t> keys_; // each once, where a second add changes nothing
};

// Kinds that forget, or remember the order of their keys, have models of their own.
class model_test : public kind_test {};
INSTANTIATE_TEST_SUITE_P(all, model_test, plain_subjects_that([](const facts& is) {
                             return is.incremental && is.exact && is.mergeable && is.commuting;
                         }),
                         subject_names);

TEST_P(model_test, random_steps_agree_with_an_exact_set) {
    EXPECT_TRUE(rc::check(std::string(k.is.name) + " agrees with an exact set", [&] {
        const goal wanted = *servable_goal(400, 512).as("goal");
        const auto steps = *rc::gen::container<std::vector<step>>(any_step()).as("steps");
        const auto strangers = hashes_of(*some_keys().as("strangers"));
        model both(k, wanted);
        for (const step& next : steps) {
            both.run(next);
            both.check();
            both.ask(strangers);
        }
    }));
}

} // namespace
} // namespace bouncer::test
