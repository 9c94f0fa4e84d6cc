// Random sequences of steps on every kind, told to the model in support/filter_model.h.
#include "property/generators.h"
#include "support/filter_model.h"
#include "support/subject.h"

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

struct ways_of_subjects {
    using plain = subject;
    using atomic = subject;
    const kind& k; // plain

    // A plain function, since RC_ASSERT at every place triples the time to compile.
    static void law(bool holds, const char* text) {
        if (!holds) RC_FAIL(text);
    }
    bool bits() const { return k.is.bits; }
    bool idempotent() const { return k.is.idempotent; }
    bool foldable() const { return k.is.bits && k.is.foldable; }
    bool released() const { return k.other().is.released; }
    subject empty_like(const subject& f) const { return k.create(f.params()).value(); }
    subject other_size(const subject& f) const {
        return k.create(k.with_size(f.params(), 3 * k.size_in(f.params()))).value();
    }
    subject plain_copy(const subject& f) const { return f.clone(words_access::plain); }
    subject atomic_copy(const subject& f) const { return f.clone(words_access::atomic); }
    void assign(subject& into, subject&& from) const { into.assign(std::move(from)); }
    math::geometry shape_of(const subject& f) const { return k.shape_of(f.params()); }
    bool is_random(std::uint64_t hash) const {
        static const std::unordered_set<std::uint64_t> with_structure = [] {
            std::unordered_set<std::uint64_t> out;
            for (std::uint16_t key = universe - structured; key < universe; ++key) out.insert(hash_of(key));
            return out;
        }();
        return !with_structure.contains(hash);
    }
};

void run(filter_model<ways_of_subjects>& model, const step& next) {
    const auto hashes = hashes_of(next.keys);
    const unsigned number = next.number;
    switch (next.what) {
    case action::add: return model.add(hashes);
    case action::add_batch: return model.add_batch(hashes, number % 2 == 0);
    case action::test_and_add: return model.test_and_add(hashes);
    case action::test_and_add_batch: return model.test_and_add_batch(hashes, number % 2 == 0);
    case action::ask: return model.ask(hashes);
    case action::add_all: return model.add_all(hashes, number % 5u, number % 3u);
    case action::merge: return model.merge(hashes);
    case action::merge_if_within:
        return model.merge_if_within(hashes, [&](double after) {
            return number < 8 ? after : std::pow(10.0, -static_cast<double>(number % 7) - 0.5);
        });
    case action::merge_other: return model.merge_other(hashes);
    case action::fold: return model.fold(number % 9u);
    case action::clear: return model.clear();
    case action::clone: return model.clone(hashes);
    }
}

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
        filter_model both(ways_of_subjects{k}, k.create(wanted).value(), k.other().create(wanted).value());
        for (const step& next : steps) {
            run(both, next);
            both.check();
            both.ask(strangers);
        }
    }));
}

} // namespace
} // namespace bouncer::test
