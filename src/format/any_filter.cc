// A filter of a kind that is known at run time: how it comes to be, and what is handed on to the form that is held.
#include <bouncer/any_filter.h>

#include "format/chunks.h"
#include "format/held_forms.h"
#include "format/kinds.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace bouncer {

namespace detail {

failure cannot(const form_info& form, std::string_view what, std::string_view instead) {
    const result<void> refused = guarded([&]() -> result<void> {
        if (form.is_view && !form.is_static)
            return failure{error_code::unsupported,
                           "a mapped filter is read-only, and " + std::string(what) +
                               " would change it: open it with access::load, or open_shared"};
        return failure{error_code::unsupported, "a " + std::string(form.kind.name) + " cannot " +
                                                    std::string(what) + std::string(instead)};
    });
    return refused.error();
}

result<any_filter> held_filter::fold(std::uint64_t, const memory_options&) const {
    return cannot("fold", form().is_static ? ": it has no spare room; build one of another rate" : "");
}

} // namespace detail

namespace {

// What is done by the kind's name or id, in the order of the list. Made once, so that no template is written out per
// function and kind.
struct kind_makers {
    kind_info kind;
    result<any_filter> (*create)(const goal& wanted, const filter_options& options);
    result<any_filter> (*build)(std::span<const std::uint64_t> hashes, const goal& wanted,
                                const build_options& options);
    result<any_filter> (*build_from)(const hash_source& source, const goal& wanted,
                                     const build_options& options);
    result<any_filter> (*load)(const detail::snapshot_origin& from, const memory_options& memory);
    result<any_filter> (*map)(const std::string& path, verification checks);
};

// Not inlined: four makers of every kind end with it (a twentieth of this file's time under a checker).
template <class F>
[[gnu::noinline]] result<any_filter> any_of(result<F> made) {
    if (!made) return made.error();
    return any_filter(std::move(*made));
}

template <class F>
result<any_filter> create_one(const goal& wanted, const filter_options& options) {
    if constexpr (incremental<F>)
        return any_of(F::create(wanted, options));
    else
        return detail::cannot(detail::form_of<F>,
                              "be created empty: it is built once from all its keys, by build()");
}

template <class F, class From>
result<any_filter> build_one(From from, const goal& wanted, const build_options& options) {
    if constexpr (buildable<F>)
        return any_of(F::build(from, wanted, options));
    else if constexpr (!incremental<F>)
        return detail::cannot(detail::form_of<F>,
                              "be built from one list: it needs the keys that are not listed, too");
    else
        return detail::cannot(detail::form_of<F>, "be built at once: create it and add");
}

template <class F>
result<any_filter> load_one(const detail::snapshot_origin& from, const memory_options& memory) {
    return any_of(detail::load_from<F>(from, memory));
}

template <class F>
result<any_filter> map_one(const std::string& path, verification checks) {
    using view = typename F::template with_words<const_words>;
    if constexpr (detail::mappable<view>)
        return any_of(bouncer::map<view>(path, checks));
    else
        return detail::cannot(detail::form_of<F>, "be mapped: load it");
}

template <class... Kinds>
constexpr auto makers_of(type_list<Kinds...>) {
    return std::array{kind_makers{.kind = {Kinds::kind_id, Kinds::kind_name},
                                  .create = create_one<Kinds>,
                                  .build = build_one<Kinds, std::span<const std::uint64_t>>,
                                  .build_from = build_one<Kinds, const hash_source&>,
                                  .load = load_one<Kinds>,
                                  .map = map_one<Kinds>}...};
}
constexpr auto makers = makers_of(all_filters<atomic_words>{});

result<const kind_makers*> find(std::string_view kind) {
    std::string names;
    for (const kind_makers& each : makers) {
        if (each.kind.name == kind) return &each;
        names += (names.empty() ? "" : ", ") + std::string(each.kind.name);
    }
    return failure{error_code::invalid_argument,
                   "no kind is called \"" + std::string(kind) + "\"; there are " + names};
}

// Of an id that is known.
const kind_makers& find(std::uint16_t kind) {
    return *std::find_if(makers.begin(), makers.end(),
                         [&](const kind_makers& each) { return each.kind.id == kind; });
}

// What a binary_fuse keeps of up to 2^32 keys: 2^-32 for its widest fingerprints, as much for collisions of hashes. The
// number of keys does not decide, so that a span and a stream of one set give one kind.
constexpr double fuse_rate_least = 0x1p-31;

std::string_view kind_for(const goal& wanted) {
    return wanted.prefer == prefer::space || wanted.false_positive_rate.value_or(1) < fuse_rate_least
               ? ribbon::kind_name
               : binary_fuse::kind_name;
}

template <class F>
void hold_one(void* place, void* filter) noexcept {
    static_assert(sizeof(detail::held<F>) <= sizeof(any_filter) && alignof(F) <= alignof(any_filter));
    static_assert(std::is_nothrow_move_constructible_v<F>);
    new (place) detail::held<F>(std::move(*static_cast<F*>(filter)));
}

template <class... Forms>
constexpr auto holders_of(type_list<Forms...>) {
    return std::array{&hold_one<Forms>...};
}
constexpr auto holders = holders_of(detail::held_forms{});

} // namespace

void any_filter::hold(std::size_t index, void* filter) noexcept {
    holders[index](place_, filter);
}
any_filter::any_filter(any_filter&& other) noexcept {
    hold(other.form(), other.filter());
}
any_filter& any_filter::operator=(any_filter&& other) noexcept {
    if (this == &other) return *this;
    held().~held_filter();
    hold(other.form(), other.filter());
    return *this;
}
any_filter::~any_filter() {
    held().~held_filter();
}

result<any_filter> any_filter::create(std::string_view kind, const goal& wanted,
                                      const filter_options& options) {
    return detail::guarded([&]() -> result<any_filter> {
        const auto found = find(kind);
        if (!found) return found.error();
        return (*found)->create(wanted, options);
    });
}

result<any_filter> any_filter::build(std::span<const std::uint64_t> hashes, const goal& wanted,
                                     const build_options& options, std::string_view kind) {
    return detail::guarded([&]() -> result<any_filter> {
        const auto found = find(kind.empty() ? kind_for(wanted) : kind);
        if (!found) return found.error();
        return (*found)->build(hashes, wanted, options);
    });
}
result<any_filter> any_filter::build(const hash_source& source, const goal& wanted,
                                     const build_options& options, std::string_view kind) {
    return detail::guarded([&]() -> result<any_filter> {
        const auto found = find(kind.empty() ? kind_for(wanted) : kind);
        if (!found) return found.error();
        return (*found)->build_from(source, wanted, options);
    });
}

result<double> any_filter::merge(const any_filter& other) {
    return detail::guarded([&]() -> result<double> {
        for (const any_filter* each : {static_cast<const any_filter*>(this), &other})
            if (each->held().form().is_static)
                return detail::cannot(each->held().form(), "merge",
                                      ": its keys are not in it; build one of both sets, or ask both");
        if (kind() != other.kind())
            return failure{error_code::mismatch, "the filters differ in kind: " + std::string(kind_name()) +
                                                     " and " + std::string(other.kind_name())};
        return held().merge(other.held());
    });
}

result<any_filter> open(const std::string& path, access how, const memory_options& memory,
                        verification checks) {
    return detail::guarded([&]() -> result<any_filter> {
        auto info = inspect(path);
        if (!info) return info.error();
        // Should a file of another kind take its place in between, the load below says mismatch and names both.
        const kind_makers& kind = find(info->kind); // inspect() knows the kind
        return how == access::map ? kind.map(path, checks) : kind.load(path, memory);
    });
}

result<any_filter> open(const byte_source& source, const memory_options& memory) {
    return detail::guarded([&]() -> result<any_filter> {
        if (!source) return failure{error_code::invalid_argument, "there is no source to open"};
        // The header is read first to learn the kind, then read again from memory by the load of that kind.
        detail::header_page header;
        std::size_t have = 0;
        while (have < header.size()) {
            auto got = source(std::span(header).subspan(have));
            if (!got) return got.error();
            if (*got == 0) return failure{error_code::corrupt, "it ends within the header"};
            if (*got > header.size() - have)
                return failure{error_code::io,
                               "the source says that it gave more bytes than it was asked for"};
            have += *got;
        }
        auto info = detail::decode_header(header);
        if (!info) return info.error();
        if (auto ok = detail::check_known(*info); !ok) return ok.error();
        std::size_t given = 0;
        const byte_source again = [&](std::span<std::byte> into) -> result<std::size_t> {
            if (given == header.size()) return source(into);
            const std::size_t some = std::min(into.size(), header.size() - given);
            std::copy_n(header.begin() + static_cast<std::ptrdiff_t>(given), some, into.begin());
            given += some;
            return some;
        };
        return find(info->kind).load(again, memory);
    });
}

} // namespace bouncer
