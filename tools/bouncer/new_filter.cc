#include "new_filter.h"

#include "tool_error.h"

#include <bouncer/all_filters.h>
#include <bouncer/snapshot.h>

#include <memory>
#include <utility>

namespace bouncer::tool {

namespace {

// The kind of that name, plain, if it takes keys.
template <class Visit>
void for_kind_named(const std::string& name, Visit visit) {
    for_each_kind<plain_words>([&]<class F>() {
        if constexpr (incremental<F>)
            if (F::kind_name == name) visit.template operator()<F>();
    });
}

template <class F>
new_filter held(result<F> made) {
    if (!made) throw tool_error(made.error().message);
    new_filter out;
    const auto filter = std::make_shared<F>(std::move(*made));
    out.add = [filter](std::span<const std::uint64_t> hashes) { return filter->add_batch(hashes); };
    if constexpr (rotating<F>)
        out.rotate_to = [filter](std::uint64_t epoch) { return filter->rotate_to(epoch); };
    out.size_bytes = [filter] { return filter->size_bytes(); };
    out.view = [filter] { return any_filter(filter->view()); };
    return out;
}

} // namespace

new_filter make_new(const std::string& kind, const goal& wanted, const hash_spec& hash) {
    new_filter out;
    for_kind_named(kind, [&]<class F>() { out = held(F::create(wanted, {.hash = hash})); });
    return out;
}

new_filter make_like(const std::string& kind, const std::string& path, const hash_spec& hash) {
    new_filter out;
    for_kind_named(kind, [&]<class F>() {
        const auto chosen = value_or_throw(load<F>(path)).params(); // its memory is given back first
        out = held(F::create(chosen, {.hash = hash}));
    });
    return out;
}

kind_facts facts_of(const std::string& kind, const goal& wanted) {
    kind_facts out;
    for_each_kind<atomic_words>([&]<class F>() {
        if (F::kind_name != kind) return;
        out.is_static = !incremental<F>;
        out.grows = F::kind_id == atomic_scalable_bloom::kind_id;
        // Not of kinds that forget, or where the bits of a key hang together: DCSO's estimates are 3 to 9 times less exact.
        out.fill_tells_keys = F::no_false_negatives && !out.grows && F::kind_id != atomic_dcso_bloom::kind_id;
        // All keys come in one step of such a filter, which is made for a part of the window each.
        if constexpr (rotating<F>) {
            out.rotates = true;
            out.steps = F::solve({.keys = 1000, .false_positive_rate = 0.01}).value().live - 1;
        }
        out.default_hash = spec_of(typename F::default_hasher{});
        if constexpr (requires { F::solve(wanted); }) {
            const auto chosen = F::solve(wanted);
            if (chosen)
                out.bytes = F::size_bytes_of(*chosen);
            else
                out.bytes = chosen.error();
        } else {
            out.bytes = failure{error_code::unsupported,
                                "a " + kind + " is built from two lists, which only the library does"};
        }
    });
    return out;
}

} // namespace bouncer::tool
