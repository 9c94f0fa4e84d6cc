// What users call of every kind, with every access, so that compilers see it inlined into code that is not ours.
// portable.sh compiles it and links nothing.
#include <bouncer/all_filters.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

using hash_span = std::span<const std::uint64_t>;

// The filter to use. It has no definition: the compiler must expect any state.
template <class F>
F& given();

template <class F>
std::size_t ask(const F& filter, hash_span hashes, std::span<bool> answers) {
    std::size_t found = filter.may_contain(hashes, answers);
    for (const std::uint64_t hash : hashes) found += filter.may_contain(hash);
    return found;
}

template <class F>
std::size_t change(F& filter, hash_span hashes, std::span<bool> answers) {
    std::size_t changed = filter.add_batch(hashes) + filter.test_and_add(hashes, answers);
    for (const std::uint64_t hash : hashes) {
        changed += filter.add(hash);
        changed += filter.test_and_add(hash);
        if constexpr (bouncer::deletable<F>) changed += filter.try_remove(hash);
    }
    return changed;
}

template <class F>
void make(F& filter, hash_span hashes) {
    const bouncer::goal wanted{.keys = 1000, .false_positive_rate = 0.01};
    if constexpr (bouncer::incremental<F>) {
        if (auto made = F::create(wanted)) filter = std::move(*made);
    } else if constexpr (bouncer::buildable<F>) {
        if (auto made = F::build(hashes, wanted)) filter = std::move(*made);
    } else {
        static_assert(bouncer::buildable_exactly<F>);
        if (auto made = F::build(hashes.first(1), hashes.subspan(1))) filter = std::move(*made);
    }
}

template <class F>
std::size_t use(hash_span hashes, std::span<bool> answers) {
    F& filter = given<F>();
    std::size_t out = ask(filter, hashes, answers);
    if constexpr (bouncer::incremental<F>) out += change(filter, hashes, answers);
    // Of one access only: making hardly differs with it, and costs a quarter of the compile time.
    if constexpr (std::is_same_v<typename F::words_type, bouncer::plain_words>) make(filter, hashes);
    return out;
}

template <class Words>
std::size_t use_every_kind(hash_span hashes, std::span<bool> answers) {
    std::size_t out = 0;
    bouncer::for_each_kind<Words>([&]<class F>() { out += use<F>(hashes, answers); });
    return out;
}

template std::size_t use_every_kind<bouncer::plain_words>(hash_span, std::span<bool>);
template std::size_t use_every_kind<bouncer::atomic_words>(hash_span, std::span<bool>);
template std::size_t use_every_kind<bouncer::const_words>(hash_span, std::span<bool>);
