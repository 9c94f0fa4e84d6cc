// What a kind supplies to the one file format: its fields (parameters as numbers), and its words in segments.
#pragma once

#include <bouncer/hash.h>
#include <bouncer/region.h>
#include <bouncer/result.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer::detail {

// Words of a filter, in memory. `shared`: others may write them meanwhile, so each is read once, by a relaxed load.
struct stored_segment {
    const std::uint64_t* words;
    std::uint64_t count;
    bool shared;
};

struct stored_form {
    std::uint16_t kind;
    std::uint16_t layout_version;
    hash_spec hash;
    std::vector<std::uint64_t> fields;
    std::vector<stored_segment> segments;
};

// [any-thread] There is a field for every parameter of the kind (invalid_argument).
result<void> check_field_count(std::string_view kind, std::size_t needed, std::size_t given);
// [any-thread] The words that a filter is laid over are enough, and 64-byte aligned (corrupt).
result<void> check_words(std::string_view kind, std::uint64_t needed, const region& given);

// [any-thread] What the fields say, checked. A layout may refuse fields before it makes parameters of them.
template <class Layout>
result<typename Layout::parameters> parameters_from(std::span<const std::uint64_t> fields) {
    if (auto ok = check_field_count(Layout::kind_name, Layout::field_count, fields.size()); !ok)
        return ok.error();
    if constexpr (requires { Layout::check_stored(fields.data()); })
        if (auto ok = Layout::check_stored(fields.data()); !ok) return ok.error();
    const typename Layout::parameters chosen = Layout::from_fields(fields.data());
    if (auto ok = Layout::check(chosen); !ok) return ok.error();
    return chosen;
}

// The friend of every filter through which its storage is reached: by snapshot.h and src/format, and by filters that hold
// others. A filter has these functions in private, under the names that are called here.
struct storage_access {
    // [any-thread] What a file of the filter holds; valid while it lives and its host does not move its block.
    template <class F>
    static auto stored(const F& filter) -> decltype(filter.stored()) {
        return filter.stored();
    }
    // [any-thread] Whether the kind takes this hash.
    template <class F>
    static auto check_hash(const hash_spec& spec) -> decltype(F::check_stored_hash(spec)) {
        return F::check_stored_hash(spec);
    }
    // [any-thread] How many words follow these fields; refuses fields that are no parameters (invalid_argument, too_large).
    template <class F>
    static auto words(std::span<const std::uint64_t> fields) -> decltype(F::stored_words(fields)) {
        return F::stored_words(fields);
    }
    // [any-thread] A filter of zeroed words of the stored parameters, to be filled through segments() and then checked by
    // check_loaded(), before anything is asked.
    template <class F>
    static auto for_loading(std::span<const std::uint64_t> fields, const hash_spec& spec,
                            const memory_options& memory) -> decltype(F::for_loading(fields, spec, memory)) {
        return F::for_loading(fields, spec, memory);
    }
    // [exclusive]
    template <class F>
    static auto segments(F& filter) -> decltype(filter.loading_segments()) {
        return filter.loading_segments();
    }
    // [any-thread] Whether the words are what the kind writes (corrupt).
    template <class F>
    static auto check_loaded(const F& filter) -> decltype(filter.check_loaded()) {
        return filter.check_loaded();
    }
    // [any-thread] A filter over words that already hold one.
    template <class F>
    static auto over(region memory, std::span<const std::uint64_t> fields, const hash_spec& spec)
        -> decltype(F::over_stored(std::move(memory), fields, spec)) {
        return F::over_stored(std::move(memory), fields, spec);
    }
};

// What save() takes: any_filter too, whose kind is not part of its type.
template <class F>
concept savable = requires(const F& f) {
    { storage_access::stored(f) } -> std::same_as<stored_form>;
};

// Can be saved, and read by those who know the kind.
template <class F>
concept storable = savable<F> && requires(std::span<const std::uint64_t> fields) {
    { F::kind_id } -> std::convertible_to<std::uint16_t>;
    { F::layout_version } -> std::convertible_to<std::uint16_t>;
    { storage_access::words<F>(fields) } -> std::same_as<result<std::uint64_t>>;
};

// Can be loaded: an empty one of the stored parameters, whose words are then filled in.
template <class F>
concept loadable = storable<F> && requires(F& f, std::span<const std::uint64_t> fields, const hash_spec& spec,
                                           const memory_options& memory) {
    { storage_access::for_loading<F>(fields, spec, memory) } -> std::same_as<result<F>>;
    { storage_access::segments(f) } -> std::same_as<std::vector<std::span<std::uint64_t>>>;
};

// Can live in a mapped file: its whole state is one segment of a size that does not change.
template <class F>
concept mappable = storable<F> &&
    requires(region memory, std::span<const std::uint64_t> fields, const hash_spec& spec) {
    { storage_access::over<F>(std::move(memory), fields, spec) } -> std::same_as<result<F>>;
};

} // namespace bouncer::detail
