// built_filter<Layout, Words>: every static kind, built once from a whole set and never changed. A layout says how a set
// becomes words and how a hash is looked up in them; everything else is here, once.
//
// Thread safety: a filter that exists is immutable, so every method is [any-thread] and wait-free. There are two forms: the
// filter, which owns its memory (plain_words), and a view of a file or of another filter (const_words).
//
// The words: a directory, an entry for each shard (a range of hashes that was built of its own), then the shards, each at
// a multiple of a line.
#pragma once

#include <bouncer/build.h>
#include <bouncer/detail/sorted_hashes.h>
#include <bouncer/filter_base.h>
#include <bouncer/math.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer {

namespace detail {

// What Layout::build returns.
template <class Parameters>
struct built_words {
    Parameters params;
    region words;
};

// Built from one set for a goal; or, where the layout has is_exact, from two lists that are the whole universe.
template <class L>
concept goal_layout = requires(const sorted_hashes& set, const goal& wanted, const build_options& options) {
    { L::check_goal(wanted) } -> std::same_as<result<void>>;
    { L::solve(wanted) } -> std::same_as<result<typename L::parameters>>;
    { L::build(set, wanted, options) } -> std::same_as<result<built_words<typename L::parameters>>>;
};
template <class L>
concept exact_layout = L::is_exact &&
    requires(std::span<const std::uint64_t> hashes, const build_options& options) {
    { L::build(hashes, hashes, options) } -> std::same_as<result<built_words<typename L::parameters>>>;
};

// What built_filter asks of a layout besides: queries over words that check_words passed.
template <class L>
concept built_layout = filter_layout<L> &&
    (goal_layout<L> || exact_layout<L>)&&requires(const L& layout, const std::uint64_t* words,
                                                  std::uint64_t hash, std::size_t count, bool* answers) {
    { layout.contains(words, hash) } -> std::same_as<bool>;
    { layout.contains(words, words, count, answers) } -> std::same_as<std::size_t>;
    { layout.rate() } -> std::same_as<double>;
};

// What layouts of static kinds have in common.
struct built_once : takes_any_hash {
    static constexpr bool is_static = true;
    static constexpr bool is_exact = false;
    // Nobody changes such a filter, so it needs no choice of access: a filter, or a view.
    template <class Words>
    using form = std::conditional_t<Words::writable, plain_words, const_words>;
};

} // namespace detail

template <class Layout, readable_words Words = plain_words>
class built_filter : public filter_base<Layout, Words> {
    static_assert(detail::built_layout<Layout>);
    using base = filter_base<Layout, Words>;

  public:
    using base::base;
    using base::data;
    using base::params;
    using typename base::parameters;
    static constexpr bool union_is_or = false;
    static constexpr bool no_false_negatives = true;
    static constexpr concurrency_level concurrency = concurrency_level::wait_free;

    // Never wrong about a key of the universe that it was built from.
    static constexpr bool exact = Layout::is_exact;

    // [any-thread] What a build for goal.keys distinct keys would choose; its size is what may be expected, to half a
    // percent from 100,000 keys on, to a line or three below 1,000.
    using base::solve;

    // [any-thread] The filter of a set. Hashes may repeat and come in any order: the same set, goal and seed give the same
    // words. goal.keys is not looked at: the distinct hashes count. Takes meanwhile, besides the filter, 8 bytes per hash (16
    // of a stream) and for each thread the shard that it builds, up to 49 MB (docs/static.md).
    // Errors: invalid_argument (the goal, or hashes that are not random even when mixed), too_large (the goal's size, the
    // memory cap), out_of_memory, cancelled, io.
    static result<built_filter> build(std::span<const std::uint64_t> hashes, const goal& wanted,
                                      const build_options& options = {}) requires(Words::writable && !exact) {
        return build_from(hashes, wanted, options);
    }
    // [any-thread] The same of a stream, which may be larger than memory: see build_options::memory_cap_bytes.
    static result<built_filter> build(const hash_source& source, const goal& wanted,
                                      const build_options& options = {}) requires(Words::writable && !exact) {
        return detail::guarded([&]() -> result<built_filter> {
            if (!source) return failure{error_code::invalid_argument, "there is no source of hashes"};
            return build_from(source, wanted, options);
        });
    }
    // [any-thread] Of an exact kind: the listed keys and all others that will ever be asked. Errors: invalid_argument (a
    // hash in both lists), out_of_memory, too_large (the memory cap), cancelled, io. Progress begins anew for each level.
    static result<built_filter> build(std::span<const std::uint64_t> listed,
                                      std::span<const std::uint64_t> others,
                                      const build_options& options = {}) requires(Words::writable&& exact) {
        return detail::guarded([&]() -> result<built_filter> {
            if (auto ok = check_known_hash(spec_of(options)); !ok) return ok.error();
            return filter_of(Layout::build(listed, others, options), options);
        });
    }

    // ---- queries -----------------------------------------------------------------------------------------------------

    // [any-thread] False: surely not in the set. True: probably.
    bool may_contain(std::uint64_t hash) const noexcept { return this->layout().contains(data(), hash); }
    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        return this->layout().contains(data(), hashes.data(), std::min(hashes.size(), answers.size()),
                                       answers.data());
    }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // [immutable] The distinct keys, exactly; the rate of false positives, exactly where fingerprints have whole bits, and
    // otherwise (ribbon) the mean over sets, from which a filter of n keys differs by 0.3 / sqrt(n) of it; what a key costs.
    std::uint64_t keys() const noexcept { return params().keys; }
    double expected_fpr() const noexcept {
        if (keys() == 0 || exact) return 0;
        return std::min(1.0, this->layout().rate() + math::hash_collision_rate(static_cast<double>(keys())));
    }
    double approximate_size() const noexcept { return static_cast<double>(keys()); }
    double bits_per_key() const noexcept {
        return static_cast<double>(this->size_bytes()) * 8 /
               static_cast<double>(std::max<std::uint64_t>(keys(), 1));
    }

  private:
    // Passes on what the source throws, but for std::bad_alloc.
    template <class From>
    static result<built_filter> build_from(const From& from, const goal& wanted,
                                           const build_options& options) {
        return detail::guarded([&]() -> result<built_filter> {
            if (auto ok = check_known_hash(spec_of(options)); !ok) return ok.error();
            if (auto ok = Layout::check_goal(wanted); !ok) return ok.error();
            const auto set = detail::sorted_hashes::gather(from, options);
            if (!set) return set.error();
            return filter_of(Layout::build(*set, wanted, options), options);
        });
    }
    static hash_spec spec_of(const build_options& options) { return options.hash.value_or(hash_spec{}); }
    static result<built_filter> filter_of(result<detail::built_words<parameters>> made,
                                          const build_options& options) {
        if (!made) return made.error();
        return built_filter(Layout(made->params), std::move(made->words), spec_of(options));
    }
};

} // namespace bouncer
