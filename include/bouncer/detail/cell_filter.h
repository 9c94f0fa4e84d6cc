// cell_filter<Derived, Layout, Words>: what kinds of cells share and bit_filter has for kinds of bits: how they are made,
// stored, copied, compared and prefetched. What a cell means is the derived kind's.
//
// A Layout has, besides what it says of itself: parameters, solve, check, describe, field_count, fields_of, from_fields,
// where() (its cells), and control_words: words before the cells, a multiple of 16, so that pairs of lines stay aligned.
#pragma once

#include <bouncer/bit_filter.h>
#include <bouncer/detail/cells.h>
#include <bouncer/detail/pipeline.h>
#include <bouncer/detail/stored.h>
#include <bouncer/detail/unions.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::detail {

template <class Derived, class Layout, readable_words Words>
class cell_filter {
  public:
    using layout_type = Layout;
    using words_type = Words;
    using parameters = typename Layout::parameters;
    using default_hasher = xxh3;
    using owned_words = std::conditional_t<Words::writable, Words, plain_words>;

    static constexpr std::uint16_t kind_id = Layout::kind_id;
    static constexpr std::string_view kind_name = Layout::kind_name;
    static constexpr std::uint16_t layout_version = Layout::layout_version;
    static constexpr bool union_is_or = false;
    static constexpr concurrency_level concurrency =
        Words::concurrent ? concurrency_level::lock_free : concurrency_level::exclusive;

    // [any-thread] The parameters that create(goal) would use, the bytes that parameters take, whether they make sense,
    // and parameters in words.
    static result<parameters> solve(const goal& wanted) {
        return guarded([&] { return Layout::solve(wanted); });
    }
    static std::uint64_t size_bytes_of(const parameters& chosen) noexcept {
        return words_of(chosen) * sizeof(std::uint64_t);
    }
    static result<void> check(const parameters& chosen) {
        return guarded([&] { return Layout::check(chosen); });
    }
    static std::string describe(const parameters& chosen) { return Layout::describe(chosen); }

    // [any-thread] An empty filter for a goal, or for explicit parameters. Nothing is allocated before every value has
    // been checked.
    static result<Derived> create(const goal& wanted,
                                  const filter_options& options = {}) requires(Words::writable) {
        auto solved = solve(wanted);
        if (!solved) return solved.error();
        return create(*solved, options);
    }
    static result<Derived> create(const parameters& chosen,
                                  const filter_options& options = {}) requires(Words::writable) {
        return guarded([&]() -> result<Derived> {
            if (auto ok = Layout::check(chosen); !ok) return ok.error();
            const hash_spec spec = options.hash.value_or(hash_spec{});
            if (auto ok = check_known_hash(spec); !ok) return ok.error();
            auto memory = region::allocate(size_bytes_of(chosen), options.memory);
            if (!memory) return memory.error();
            return Derived(Layout(chosen), Words(std::move(*memory)), spec);
        });
    }

    // [any-thread] A filter over words that already hold its cells; as bit_filter::over.
    static result<Derived> over(Words words, const parameters& chosen, const hash_spec& spec) {
        return guarded([&]() -> result<Derived> {
            if (auto ok = Layout::check(chosen); !ok) return ok.error();
            if (auto ok = check_known_hash(spec); !ok) return ok.error();
            if (auto ok = check_words(kind_name, words_of(chosen), words.size(), words.line(0)); !ok)
                return ok.error();
            if constexpr (Words::writable && requires { words.memory(); }) {
                if (!words.memory().writable())
                    return failure{error_code::invalid_argument,
                                   "a filter that can add needs writable memory"};
            }
            Derived out(Layout(chosen), std::move(words), spec);
            if (auto ok = out.check_loaded(); !ok) return ok.error();
            return out;
        });
    }

    // ---- batches: prefetched; each is as the calls one by one, in order ----------------------------------------------

    // [any-thread] (plain: [exclusive]) Adds all; returns how many saw a cell that was zero.
    std::size_t add_batch(std::span<const std::uint64_t> hashes) noexcept requires(Words::writable) {
        std::size_t changed = 0;
        pipelined(hashes, [&](std::size_t i) { changed += self().add(hashes[i]); });
        return changed;
    }
    // [any-thread] (plain: [exclusive]) answers[i] = test_and_add(hashes[i]); returns how many were new (false).
    std::size_t test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) noexcept
        requires(Words::writable) {
        const std::size_t count = std::min(hashes.size(), answers.size());
        std::size_t added = 0;
        pipelined(hashes.first(count), [&](std::size_t i) {
            answers[i] = self().test_and_add(hashes[i]);
            added += !answers[i];
        });
        return added;
    }

    // ---- the whole filter --------------------------------------------------------------------------------------------

    // [any-thread] A copy with access of its own choice, e.g. clone<atomic_words>(). O(m).
    template <class OtherWords = owned_words>
    auto clone(const memory_options& memory = {}) const {
        using copy = typename Derived::template with_words<OtherWords>;
        auto out = copy::create(params(), {.hash = hash_, .memory = memory});
        if (out) out->take_words(*this);
        return out;
    }

    // [any-thread] A read-only view of this filter's words; valid while this filter lives, and its host does not move
    // its block.
    auto view() const noexcept {
        using viewed = typename Derived::template with_words<const_words>;
        return viewed(layout_, const_words(region::borrow(words_.line(0), size_bytes())), hash_);
    }

    // [any-thread] Same parameters, same hash, same cells. O(m).
    template <class OtherDerived, class OtherWords>
    bool operator==(const cell_filter<OtherDerived, Layout, OtherWords>& other) const noexcept {
        return params() == other.params() && hash_ == other.hash() &&
               equal_bits(words_.line(0), other.words().line(0), words_of(params()));
    }

    // [immutable]
    std::uint64_t size_bytes() const noexcept { return size_bytes_of(params()); }
    const parameters& params() const noexcept { return layout_.params(); }
    std::string describe() const { return Layout::describe(params()); }
    const hash_spec& hash() const noexcept { return hash_; }
    math::geometry shape() const noexcept { return layout_.where().shape(); }
    const Words& words() const noexcept { return words_; }

    // ---- for the file format (detail/stored.h) -----------------------------------------------------------------------

    // [any-thread] Valid while this filter lives and its host does not move its block.
    stored_form stored() const {
        return {kind_id,
                layout_version,
                hash_,
                Layout::fields_of(params()),
                {{words_.line(0), words_of(params()), Words::concurrent}}};
    }
    // [any-thread] Refuses fields that are no parameters (invalid_argument, too_large).
    static result<void> check_stored_hash(const hash_spec& spec) { return check_known_hash(spec); }
    static result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        return words_of(*chosen);
    }
    // [any-thread] An empty filter of the stored parameters, to be filled through loading_segments().
    static result<Derived> for_loading(std::span<const std::uint64_t> fields, const hash_spec& spec,
                                       const memory_options& memory) requires(Words::writable) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        return create(*chosen, {.hash = spec, .memory = memory});
    }
    // [exclusive]
    std::vector<std::span<std::uint64_t>> loading_segments() requires(Words::writable) {
        return {{data(), static_cast<std::size_t>(words_of(params()))}};
    }
    // [any-thread] Whether the words before the cells are what this kind writes there (corrupt): for who has filled them.
    result<void> check_loaded() const {
        if constexpr (Layout::control_words != 0) {
            bool good = Layout::good_control(words_.load(0));
            for (std::uint64_t i = 1; i < Layout::control_words; ++i) good &= words_.load(i) == 0;
            if (!good)
                return failure{error_code::corrupt,
                               "the first words of a " + std::string(kind_name) + " are none that it writes"};
        }
        return {};
    }
    // [any-thread] As over(), from fields.
    static result<Derived> over_stored(region memory, std::span<const std::uint64_t> fields,
                                       const hash_spec& spec) {
        auto chosen = parameters_of(fields);
        if (!chosen) return chosen.error();
        return over(Words(std::move(memory)), *chosen, spec);
    }

    // [exclusive] For host-supplied memory: the host has copied the filter's block to another place.
    void host_block_moved_to(void* block) noexcept { words_.host_block_moved_to(block); }

  protected:
    cell_filter(const Layout& layout, Words words, const hash_spec& spec) noexcept
        : layout_(layout), words_(std::move(words)), hash_(spec) {}

    template <class OtherDerived, class OtherLayout, readable_words OtherWords>
    friend class cell_filter;

    static constexpr bool in_memory = std::derived_from<Words, words_base>;

    const Layout& layout() const noexcept { return layout_; }
    Words& mutable_words() noexcept { return words_; }
    cells where() const noexcept { return layout_.where(); }
    const std::uint64_t* cell_words() const noexcept { return words_.line(0) + Layout::control_words; }

    // One cell, `control_words` further on than `cells` counts.
    std::uint64_t cell(std::uint64_t word, std::uint32_t shift) const noexcept {
        return words_.load(Layout::control_words + word) >> shift & cell_mask();
    }
    std::uint64_t cell_mask() const noexcept {
        return ~std::uint64_t{0} >> (64 - layout_.where().cell_bits());
    }

    template <class Step>
    void pipelined(std::span<const std::uint64_t> hashes, Step step) const noexcept {
        const cells at = where();
        pipeline<16>(
            hashes.size(),
            [&](std::size_t i) {
                at.every_line(hashes[i], [&](std::uint64_t word) {
                    __builtin_prefetch(words_.line(Layout::control_words + word));
                });
            },
            step);
    }

    // A batch of queries where there is no kernel.
    std::size_t ask_each(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        std::size_t found = 0;
        pipelined(hashes, [&](std::size_t i) {
            answers[i] = static_cast<const Derived&>(*this).may_contain(hashes[i]);
            found += answers[i];
        });
        return found;
    }

    // change(old word) -> new word of word i, control words counted too, until nobody came between; false, and nothing
    // done, where they are equal.
    template <class Change>
    bool change_word(std::uint64_t i, Change change) noexcept {
        std::uint64_t old = words_.load(i);
        while (true) {
            const std::uint64_t wanted = change(old);
            if (wanted == old) return false;
            if (words_.compare_exchange(i, old, wanted)) return true;
        }
    }

    template <class OtherDerived, class OtherWords>
    result<void> check_like(const cell_filter<OtherDerived, Layout, OtherWords>& other) const {
        return guarded([&]() -> result<void> {
            if (!(params() == other.params())) return unlike_parameters(describe(), other.describe());
            return check_same_hash(hash_, other.hash());
        });
    }

    template <class OtherDerived, class OtherWords>
    void take_words(const cell_filter<OtherDerived, Layout, OtherWords>& other) noexcept {
        for (std::uint64_t i = 0; i < words_of(params()); ++i) words_.store(i, other.words().load(i));
    }

  private:
    static std::uint64_t words_of(const parameters& chosen) noexcept {
        return Layout::control_words + Layout(chosen).where().word_count();
    }
    static result<parameters> parameters_of(std::span<const std::uint64_t> fields) {
        return parameters_from<Layout>(kind_name, fields);
    }
    Derived& self() noexcept { return static_cast<Derived&>(*this); }
    std::uint64_t* data() noexcept { return const_cast<std::uint64_t*>(words_.line(0)); }

    Layout layout_;
    Words words_;
    hash_spec hash_;
};

} // namespace bouncer::detail
