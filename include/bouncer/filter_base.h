// filter_base<Layout, Words>: everything about a filter that does not depend on what its words mean. Identity, creation,
// storage, comparison and copies of all kinds, here once; bit_filter, cell_filter and built_filter add their operations.
//
// Thread safety: what is here only reads, but for clear(), moves and host_block_moved_to(), which are [exclusive].
#pragma once

#include <bouncer/concepts.h>
#include <bouncer/detail/bit_scan.h>
#include <bouncer/detail/layout.h>
#include <bouncer/detail/stored.h>
#include <bouncer/detail/unions.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/region.h>
#include <bouncer/result.h>
#include <bouncer/words.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer {

// What a filter is created with besides its goal.
struct filter_options {
    // How the hashes that will be added are made; unset: the kind's default (prehashed, or the one hash it fixes).
    std::optional<hash_spec> hash = std::nullopt;
    memory_options memory = {};
};

template <detail::filter_layout Layout, readable_words Words>
class filter_base {
    using filter = typename Layout::template filter<Words>;

  public:
    using layout_type = Layout;
    using words_type = Words;
    using parameters = typename Layout::parameters;
    using default_hasher = typename Layout::default_hasher;
    // The same kind with other access.
    template <class OtherWords>
    using with_words = typename Layout::template filter<OtherWords>;
    // The access of a copy: this filter's own, plain for a view.
    using owned_words = std::conditional_t<Words::writable, Words, plain_words>;

    static constexpr std::uint16_t kind_id = Layout::kind_id;
    static constexpr std::string_view kind_name = Layout::kind_name;
    static constexpr std::uint16_t layout_version = Layout::layout_version;

    // [any-thread] The parameters that create(goal), or build, would use; and the bytes that parameters take.
    static result<parameters> solve(const goal& wanted) requires requires { Layout::solve(wanted); }
    {
        return detail::guarded([&] { return Layout::solve(wanted); });
    }
    static std::uint64_t size_bytes_of(const parameters& chosen) noexcept {
        return Layout(chosen).word_count() * sizeof(std::uint64_t);
    }
    // [any-thread] Refuses parameters that make no sense; and parameters in words.
    static result<void> check(const parameters& chosen) {
        return detail::guarded([&] { return Layout::check(chosen); });
    }
    static std::string describe(const parameters& chosen) { return Layout::describe(chosen); }

    // [any-thread] An empty filter for a goal, or for explicit parameters. Nothing is allocated before every value
    // has been checked.
    static result<filter> create(const goal& wanted,
                                 const filter_options& options = {}) requires(Words::writable &&
                                                                              !Layout::is_static) {
        auto solved = solve(wanted);
        if (!solved) return solved.error();
        return create(*solved, options);
    }
    static result<filter> create(const parameters& chosen,
                                 const filter_options& options = {}) requires(Words::writable &&
                                                                              !Layout::is_static) {
        return zeroed(chosen, options.hash.value_or(Layout::default_hash()), options.memory);
    }

    // [any-thread] A filter over words that already hold one (a mapped file, a borrowed range). Refuses words that are too
    // few, not 64-byte aligned or none that the kind writes (corrupt), and read-only memory for a filter that can add
    // (invalid_argument).
    static result<filter> over(region memory, const parameters& chosen, const hash_spec& spec) {
        return detail::guarded([&]() -> result<filter> {
            if (auto ok = Layout::check(chosen); !ok) return ok.error();
            if (auto ok = Layout::check_hash(spec); !ok) return ok.error();
            const Layout layout(chosen);
            if (auto ok = detail::check_words(kind_name, layout.word_count(), memory); !ok) return ok.error();
            if (Words::writable && !Layout::is_static && !memory.writable())
                return failure{error_code::invalid_argument, "a filter that can add needs writable memory"};
            filter out(layout, std::move(memory), spec);
            if (auto ok = out.check_loaded(); !ok) return ok.error();
            return out;
        });
    }

    // [any-thread] A copy with access and memory of its own, e.g. clone<atomic_words>(). O(m).
    template <class OtherWords = owned_words>
    result<with_words<OtherWords>> clone(const memory_options& memory = {}) const {
        auto out = with_words<OtherWords>::zeroed(params(), hash_, memory);
        if (out) out->take_words(data());
        return out;
    }
    // [any-thread] A read-only view of this filter's words; valid while this filter lives, and its host does not move
    // its block.
    with_words<const_words> view() const noexcept {
        return {layout_, region::borrow(data(), size_bytes()), hash_};
    }

    // [exclusive] Forgets every key. O(m).
    void clear() noexcept requires(Words::writable && !Layout::is_static) {
        for (std::uint64_t i = 0; i < layout_.word_count(); ++i) Words::store(mutable_data() + i, 0);
    }

    // [any-thread] Same parameters, same hash, same words. O(m).
    template <class OtherWords>
    bool operator==(const filter_base<Layout, OtherWords>& other) const noexcept {
        return params() == other.params() && hash_ == other.hash() &&
               detail::equal_bits(data(), other.data(), layout_.word_count());
    }

    // [immutable]
    std::uint64_t size_bytes() const noexcept { return layout_.word_count() * sizeof(std::uint64_t); }
    const parameters& params() const noexcept { return layout_.params(); }
    std::string describe() const { return Layout::describe(params()); }
    const Layout& layout() const noexcept { return layout_; }
    const hash_spec& hash() const noexcept { return hash_; }
    // [immutable] The words, size_bytes() of them in bytes; others may write them meanwhile, so read them by words_type.
    const std::uint64_t* data() const noexcept { return static_cast<const std::uint64_t*>(memory_.data()); }
    const region& memory() const noexcept { return memory_; }

    // [exclusive] For host-supplied memory: the host has copied the filter's block to another place.
    void host_block_moved_to(void* block) noexcept { memory_.host_block_moved_to(block); }

  protected:
    template <detail::filter_layout OtherLayout, readable_words OtherWords>
    friend class filter_base;

    filter_base(const Layout& layout, region memory, const hash_spec& spec) noexcept
        : layout_(layout), memory_(std::move(memory)), hash_(spec) {}

    std::uint64_t* mutable_data() noexcept requires(Words::writable) {
        return static_cast<std::uint64_t*>(memory_.data());
    }

    // [any-thread] The two are of the same parameters and hash, and so have a union (mismatch, wrong_key).
    template <class OtherWords>
    result<void> check_like(const filter_base<Layout, OtherWords>& other) const {
        return detail::guarded([&]() -> result<void> {
            if (!(params() == other.params())) return detail::unlike_parameters(describe(), other.describe());
            return check_same_hash(hash_, other.hash());
        });
    }

  private:
    friend struct detail::storage_access;

    static result<filter> zeroed(const parameters& chosen, const hash_spec& spec,
                                 const memory_options& options) {
        return detail::guarded([&]() -> result<filter> {
            if (auto ok = Layout::check(chosen); !ok) return ok.error();
            if (auto ok = Layout::check_hash(spec); !ok) return ok.error();
            auto memory = region::allocate(size_bytes_of(chosen), options);
            if (!memory) return memory.error();
            return filter(Layout(chosen), std::move(*memory), spec);
        });
    }

    // Into words that are zero. Others may write the words at `from` meanwhile.
    void take_words(const std::uint64_t* from) noexcept {
        for (std::uint64_t i = 0; i < layout_.word_count(); ++i)
            if (const std::uint64_t word = const_words::load(from + i); word != 0)
                Words::store(mutable_data() + i, word);
    }

    // ---- for storage_access (detail/stored.h) ----------------------------------------------------------------------

    detail::stored_form stored() const {
        return {kind_id,
                layout_version,
                hash_,
                Layout::fields_of(params()),
                {{data(), layout_.word_count(), Words::concurrent && !Layout::is_static}}};
    }
    static result<void> check_stored_hash(const hash_spec& spec) { return Layout::check_hash(spec); }
    static result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) {
        auto chosen = detail::parameters_from<Layout>(fields);
        if (!chosen) return chosen.error();
        return Layout(*chosen).word_count();
    }
    static result<filter> for_loading(std::span<const std::uint64_t> fields, const hash_spec& spec,
                                      const memory_options& memory) requires(Words::writable) {
        auto chosen = detail::parameters_from<Layout>(fields);
        if (!chosen) return chosen.error();
        return zeroed(*chosen, spec, memory);
    }
    std::vector<std::span<std::uint64_t>> loading_segments() requires(Words::writable) {
        return {{mutable_data(), static_cast<std::size_t>(layout_.word_count())}};
    }
    result<void> check_loaded() const { return layout_.check_words(data()); }
    static result<filter> over_stored(region memory, std::span<const std::uint64_t> fields,
                                      const hash_spec& spec) {
        auto chosen = detail::parameters_from<Layout>(fields);
        if (!chosen) return chosen.error();
        return over(std::move(memory), *chosen, spec);
    }

    Layout layout_;
    region memory_;
    hash_spec hash_;
};

} // namespace bouncer
