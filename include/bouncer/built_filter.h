// built_filter<Layout, Words>: every static kind, built once from a whole set and never changed. A layout says how a set
// becomes words and how a hash is looked up in them; everything else is here, once.
//
// Thread safety: a filter that exists is immutable, so every method is [any-thread] and wait-free, whatever its words.
// Words only say who owns the memory: plain_words and atomic_words the filter itself, const_words a file or another
// filter.
//
// The words: a directory, an entry for each shard (a range of hashes that was built of its own), then the shards, each at
// a multiple of a line.
#pragma once

#include <bouncer/build.h>
#include <bouncer/concepts.h>
#include <bouncer/detail/sorted_hashes.h>
#include <bouncer/detail/stored.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/math.h>
#include <bouncer/result.h>
#include <bouncer/words.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// What built_filter asks of a layout: parameters as numbers and in words, and queries over words that check_words passed.
template <class L>
concept built_layout = std::constructible_from<L, const typename L::parameters&> &&
    (goal_layout<L> || exact_layout<L>)&&requires(const L& layout, const typename L::parameters& chosen,
                                                  const std::uint64_t* words, std::uint64_t hash,
                                                  std::size_t count, bool* answers) {
    requires std::same_as<decltype(L::kind_id), const std::uint16_t>;
    requires std::same_as<decltype(L::layout_version), const std::uint16_t>;
    requires std::same_as<decltype(L::kind_name), const std::string_view>;
    requires std::same_as<decltype(L::field_count), const std::size_t>;
    { L::check(chosen) } -> std::same_as<result<void>>;
    { L::describe(chosen) } -> std::same_as<std::string>;
    { L::fields_of(chosen) } -> std::same_as<std::vector<std::uint64_t>>;
    { L::from_fields(words) } -> std::same_as<typename L::parameters>;
    { layout.params() } -> std::same_as<const typename L::parameters&>;
    { layout.contains(words, hash) } -> std::same_as<bool>;
    { layout.contains(words, words, count, answers) } -> std::same_as<std::size_t>;
    { layout.check_words(words) } -> std::same_as<result<void>>;
    { layout.rate() } -> std::same_as<double>;
};

} // namespace detail

template <class Layout, readable_words Words>
class built_filter {
    static_assert(detail::built_layout<Layout>);

  public:
    using layout_type = Layout;
    using words_type = Words;
    using parameters = typename Layout::parameters;
    using default_hasher = xxh3;
    template <class OtherWords>
    using with_words = built_filter<Layout, OtherWords>;
    using owned_words = std::conditional_t<Words::writable, Words, plain_words>;

    static constexpr std::uint16_t kind_id = Layout::kind_id;
    static constexpr std::string_view kind_name = Layout::kind_name;
    static constexpr std::uint16_t layout_version = Layout::layout_version;
    static constexpr bool union_is_or = false;
    static constexpr bool no_false_negatives = true;
    static constexpr concurrency_level concurrency = concurrency_level::wait_free;

    // Never wrong about a key of the universe that it was built from.
    static constexpr bool exact = requires { Layout::is_exact; };

    // [any-thread] What a build for goal.keys distinct keys would choose; its size is what may be expected, to half a
    // percent from 100,000 keys on, to a line or three below 1,000.
    static result<parameters> solve(const goal& wanted) requires(!exact) {
        return detail::guarded([&] { return Layout::solve(wanted); });
    }
    static std::uint64_t size_bytes_of(const parameters& chosen) noexcept {
        return chosen.words * sizeof(std::uint64_t);
    }
    // [any-thread] Refuses parameters that make no sense; and parameters in words.
    static result<void> check(const parameters& chosen) {
        return detail::guarded([&] { return Layout::check(chosen); });
    }
    static std::string describe(const parameters& chosen) { return Layout::describe(chosen); }

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

    // [any-thread] A filter over words that already hold one; as bit_filter::over.
    static result<built_filter> over(Words words, const parameters& chosen, const hash_spec& spec) {
        return detail::guarded([&]() -> result<built_filter> {
            if (auto ok = Layout::check(chosen); !ok) return ok.error();
            if (auto ok = check_known_hash(spec); !ok) return ok.error();
            if (auto ok = detail::check_words(kind_name, chosen.words, words.size(), words.line(0)); !ok)
                return ok.error();
            built_filter out(Layout(chosen), std::move(words), spec);
            if (auto ok = out.check_loaded(); !ok) return ok.error();
            return out;
        });
    }

    // ---- queries -----------------------------------------------------------------------------------------------------

    // [any-thread] False: surely not in the set. True: probably.
    bool may_contain(std::uint64_t hash) const noexcept { return layout_.contains(words_.line(0), hash); }
    // [any-thread] answers[i] = may_contain(hashes[i]); returns how many are true. Works on the shorter of the two.
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        return layout_.contains(words_.line(0), hashes.data(), std::min(hashes.size(), answers.size()),
                                answers.data());
    }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // [immutable] The distinct keys, exactly; the rate of false positives, exactly where fingerprints have whole bits, and
    // otherwise (ribbon) the mean over sets, from which a filter of n keys differs by 0.3 / sqrt(n) of it; what a key costs.
    std::uint64_t keys() const noexcept { return params().keys; }
    double expected_fpr() const noexcept {
        if (keys() == 0 || exact) return 0;
        return std::min(1.0, layout_.rate() + math::hash_collision_rate(static_cast<double>(keys())));
    }
    double approximate_size() const noexcept { return static_cast<double>(keys()); }
    double bits_per_key() const noexcept {
        return static_cast<double>(size_bytes()) * 8 /
               static_cast<double>(std::max<std::uint64_t>(keys(), 1));
    }

    // [any-thread] A copy with memory of its own. O(size).
    template <class OtherWords = owned_words>
    result<built_filter<Layout, OtherWords>> clone(const memory_options& memory = {}) const {
        auto copy = region::allocate(size_bytes(), memory);
        if (!copy) return copy.error();
        std::memcpy(copy->data(), words_.line(0), size_bytes());
        return built_filter<Layout, OtherWords>(layout_, OtherWords(std::move(*copy)), hash_);
    }
    // [any-thread] A view of this filter's words; valid while this filter lives, and its host does not move its block.
    built_filter<Layout, const_words> view() const noexcept {
        return built_filter<Layout, const_words>(
            layout_, const_words(region::borrow(words_.line(0), size_bytes())), hash_);
    }
    // [any-thread] Same parameters, same hash, same words: the same set, goal and seed. O(size).
    template <class OtherWords>
    bool operator==(const built_filter<Layout, OtherWords>& other) const noexcept {
        return params() == other.params() && hash_ == other.hash() &&
               std::memcmp(words_.line(0), other.words().line(0), size_bytes()) == 0;
    }

    // [immutable]
    std::uint64_t size_bytes() const noexcept { return size_bytes_of(params()); }
    const parameters& params() const noexcept { return layout_.params(); }
    std::string describe() const { return Layout::describe(params()); }
    const hash_spec& hash() const noexcept { return hash_; }
    const Words& words() const noexcept { return words_; }

    // ---- for the file format (detail/stored.h) -----------------------------------------------------------------------

    // [any-thread] Valid while this filter lives and its host does not move its block.
    detail::stored_form stored() const {
        return {kind_id,
                layout_version,
                hash_,
                Layout::fields_of(params()),
                {{words_.line(0), params().words, false}}};
    }
    static result<void> check_stored_hash(const hash_spec& spec) { return check_known_hash(spec); }
    // [any-thread] Refuses fields that are no parameters (invalid_argument, too_large).
    static result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        return chosen->words;
    }
    // [any-thread] Zeroed words of the stored parameters, to be filled through loading_segments() and then checked by
    // check_loaded(), before anything is asked.
    static result<built_filter> for_loading(std::span<const std::uint64_t> fields, const hash_spec& spec,
                                            const memory_options& memory) requires(Words::writable) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        if (auto ok = check_known_hash(spec); !ok) return ok.error();
        auto words = region::allocate(size_bytes_of(*chosen), memory);
        if (!words) return words.error();
        return built_filter(Layout(*chosen), Words(std::move(*words)), spec);
    }
    // [exclusive]
    std::vector<std::span<std::uint64_t>> loading_segments() requires(Words::writable) {
        return {{const_cast<std::uint64_t*>(words_.line(0)), static_cast<std::size_t>(params().words)}};
    }
    // [any-thread] Whether the directory leads nowhere but into these words (corrupt).
    result<void> check_loaded() const { return layout_.check_words(words_.line(0)); }
    // [any-thread] As over(), from fields.
    static result<built_filter> over_stored(region memory, std::span<const std::uint64_t> fields,
                                            const hash_spec& spec) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        return over(Words(std::move(memory)), *chosen, spec);
    }

    // [exclusive] For host-supplied memory: the host has copied the filter's block to another place.
    void host_block_moved_to(void* block) noexcept { words_.host_block_moved_to(block); }

  private:
    template <class OtherLayout, readable_words OtherWords>
    friend class built_filter;

    built_filter(const Layout& layout, Words words, const hash_spec& spec) noexcept
        : layout_(layout), words_(std::move(words)), hash_(spec) {}

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
        return built_filter(Layout(made->params), Words(std::move(made->words)), spec_of(options));
    }
    static result<parameters> parameters_of(std::span<const std::uint64_t> fields) {
        return detail::parameters_from<Layout>(kind_name, fields);
    }

    Layout layout_;
    Words words_;
    hash_spec hash_;
};

} // namespace bouncer
