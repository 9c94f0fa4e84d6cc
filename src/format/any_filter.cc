#include <bouncer/any_filter.h>

#include "format/chunks.h"
#include "format/kinds.h"

#include <bouncer/detail/parallel.h>

#include <optional>

namespace bouncer {

namespace {

failure read_only(std::string_view what) {
    return {error_code::unsupported, "a mapped filter is read-only, and " + std::string(what) +
                                         " would change it: open it with access::load, or open_shared"};
}
// Built once, never changed: a view of one is no worse than one in memory.
template <class F>
inline constexpr bool is_static = !incremental<typename F::template with_words<atomic_words>>;

template <class F>
failure cannot(std::string_view what, std::string_view instead = "") {
    if constexpr (!F::words_type::writable && !is_static<F>) return read_only(what);
    return {error_code::unsupported,
            "a " + std::string(F::kind_name) + " cannot " + std::string(what) + std::string(instead)};
}

template <class F>
failure cannot_add() {
    if constexpr (is_static<F>)
        return cannot<F>(
            "add: it is built once from all its keys; build a new one, or use a kind that adds, such "
            "as blocked_bloom");
    return cannot<F>("add");
}

template <class T>
using plain = std::remove_cvref_t<T>;

// make.operator()<F>() of the kind that is called so, in atomic words.
template <class Make>
result<any_filter> of_name(std::string_view kind, Make make) {
    std::optional<result<any_filter>> out;
    std::string names;
    for_each_kind<atomic_words>([&]<class F>() {
        names += (names.empty() ? "" : ", ") + std::string(F::kind_name);
        if (F::kind_name != kind) return;
        result<F> made = make.template operator()<F>();
        if (made)
            out.emplace(any_filter(std::move(*made)));
        else
            out.emplace(made.error());
    });
    if (out) return std::move(*out);
    return failure{error_code::invalid_argument,
                   "no kind is called \"" + std::string(kind) + "\"; there are " + names};
}

// What a binary_fuse keeps of up to 2^32 keys: 2^-32 for its widest fingerprints, as much for collisions of hashes. The
// number of keys does not decide, so that a span and a stream of one set give one kind.
constexpr double fuse_rate_least = 0x1p-31;

template <class From>
result<any_filter> built(const From& from, const goal& wanted, const build_options& options,
                         std::string_view kind) {
    if (kind.empty())
        kind = wanted.prefer == prefer::space || wanted.false_positive_rate.value_or(1) < fuse_rate_least
                   ? atomic_ribbon::kind_name
                   : atomic_binary_fuse::kind_name;
    return of_name(kind, [&]<class F>() -> result<F> {
        if constexpr (buildable<F>)
            return F::build(from, wanted, options);
        else if constexpr (is_static<F>)
            return cannot<F>("be built from one list: it needs the keys that are not listed, too");
        else
            return cannot<F>("be built at once: create it and add");
    });
}

} // namespace

result<any_filter> any_filter::create(std::string_view kind, const goal& wanted,
                                      const filter_options& options) {
    return of_name(kind, [&]<class F>() -> result<F> {
        if constexpr (!is_static<F>)
            return F::create(wanted, options);
        else
            return cannot<F>("be created empty: it is built once from all its keys, by build()");
    });
}

result<any_filter> any_filter::build(std::span<const std::uint64_t> hashes, const goal& wanted,
                                     const build_options& options, std::string_view kind) {
    return built(hashes, wanted, options, kind);
}
result<any_filter> any_filter::build(const hash_source& source, const goal& wanted,
                                     const build_options& options, std::string_view kind) {
    return built(source, wanted, options, kind);
}

std::uint16_t any_filter::kind() const noexcept {
    return visit([](const auto& f) { return plain<decltype(f)>::kind_id; });
}
std::string_view any_filter::kind_name() const noexcept {
    return visit([](const auto& f) { return plain<decltype(f)>::kind_name; });
}
std::string any_filter::parameters() const {
    return visit([](const auto& f) { return f.describe(); });
}
hash_spec any_filter::hash() const noexcept {
    return visit([](const auto& f) { return hash_spec(f.hash()); });
}
std::uint64_t any_filter::size_bytes() const noexcept {
    return visit([](const auto& f) { return f.size_bytes(); });
}
bool any_filter::writable() const noexcept {
    return visit([](const auto& f) { return incremental<plain<decltype(f)>>; });
}

bool any_filter::may_contain(std::uint64_t hash) const noexcept {
    return visit([&](const auto& f) { return f.may_contain(hash); });
}
std::size_t any_filter::may_contain(std::span<const std::uint64_t> hashes,
                                    std::span<bool> answers) const noexcept {
    return visit([&](const auto& f) { return f.may_contain(hashes, answers); });
}

result<bool> any_filter::add(std::uint64_t hash) {
    return visit([&]<class F>(F& f) -> result<bool> {
        if constexpr (incremental<F>) return f.add(hash);
        return cannot_add<F>();
    });
}
result<std::size_t> any_filter::add_batch(std::span<const std::uint64_t> hashes) {
    return visit([&]<class F>(F& f) -> result<std::size_t> {
        if constexpr (incremental<F>) return f.add_batch(hashes);
        return cannot_add<F>();
    });
}
result<bool> any_filter::test_and_add(std::uint64_t hash) {
    return visit([&]<class F>(F& f) -> result<bool> {
        if constexpr (incremental<F>) return f.test_and_add(hash);
        return cannot_add<F>();
    });
}
result<std::size_t> any_filter::test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) {
    return visit([&]<class F>(F& f) -> result<std::size_t> {
        if constexpr (incremental<F>) return f.test_and_add(hashes, answers);
        return cannot_add<F>();
    });
}
result<void> any_filter::add_all(std::span<const std::uint64_t> hashes, unsigned threads) {
    return visit([&]<class F>(F& f) -> result<void> {
        if constexpr (requires { f.add_all(hashes, threads); }) {
            f.add_all(hashes, threads);
            return {};
        } else if constexpr (incremental<F>) {
            detail::run_parallel(
                detail::thread_count(threads, hashes.size()), [&](unsigned part, unsigned parts) {
                    const std::size_t first = hashes.size() / parts * part;
                    const std::size_t last =
                        part + 1 == parts ? hashes.size() : hashes.size() / parts * (part + 1);
                    f.add_batch(hashes.subspan(first, last - first));
                });
            return {};
        }
        return cannot_add<F>();
    });
}
result<void> any_filter::remove(std::uint64_t hash) {
    return visit([&]<class F>(F& f) -> result<void> {
        if constexpr (deletable<F>) {
            f.remove(hash);
            return {};
        }
        return cannot<F>("remove", ": a counting_bloom can");
    });
}
result<bool> any_filter::try_remove(std::uint64_t hash) {
    return visit([&]<class F>(F& f) -> result<bool> {
        if constexpr (deletable<F>) return f.try_remove(hash);
        return cannot<F>("remove", ": a counting_bloom can");
    });
}
result<std::uint64_t> any_filter::count(std::uint64_t hash) const {
    return visit([&]<class F>(const F& f) -> result<std::uint64_t> {
        if constexpr (requires { f.count(hash); }) return f.count(hash);
        return failure{error_code::unsupported,
                       "a " + std::string(F::kind_name) + " does not count: a counting_bloom does"};
    });
}
result<void> any_filter::rotate_to(std::uint64_t epoch) {
    return visit([&]<class F>(F& f) -> result<void> {
        if constexpr (rotating<F>) return f.rotate_to(epoch);
        return cannot<F>("rotate", ": a windowed_bloom can");
    });
}
result<void> any_filter::clear() {
    return visit([&]<class F>(F& f) -> result<void> {
        if constexpr (incremental<F>) {
            f.clear();
            return {};
        }
        return cannot<F>("clear", is_static<F> ? ": build a new one" : "");
    });
}

result<double> any_filter::merge(const any_filter& other) {
    const auto refused = [](const any_filter& each) {
        return each.visit([]<class F>(const F&) -> std::optional<failure> {
            if constexpr (is_static<F>)
                return cannot<F>("merge", ": its keys are not in it; build one of both sets, or ask both");
            return std::nullopt;
        });
    };
    for (const any_filter* each : {static_cast<const any_filter*>(this), &other})
        if (const auto why = refused(*each)) return *why;
    if (kind() != other.kind())
        return failure{error_code::mismatch, "the filters differ in kind: " + std::string(kind_name()) +
                                                 " and " + std::string(other.kind_name())};
    return visit([&]<class F>(F& f) -> result<double> {
        // The other has the same kind, in atomic words or as a view.
        const auto merged = [&]<class G>(const G* g) -> result<double> {
            if constexpr (requires { f.merge(*g); }) return f.merge(*g);
            return cannot<F>("merge", ": its kind has no union");
        };
        using owned = typename F::template with_words<atomic_words>;
        if (const auto* const g = std::get_if<owned>(&other.held_)) return merged(g);
        return merged(std::get_if<typename F::template with_words<const_words>>(&other.held_));
    });
}

result<any_filter> any_filter::fold(std::uint64_t factor, const memory_options& memory) const {
    return visit([&]<class F>(const F& f) -> result<any_filter> {
        if constexpr (foldable<F>) {
            auto out = f.template fold<atomic_words>(factor, memory);
            if (!out) return out.error();
            return any_filter(std::move(*out));
        } else {
            return cannot<F>("fold", is_static<F> ? ": it has no spare room; build one of another rate" : "");
        }
    });
}

result<double> any_filter::fill_ratio() const {
    return visit([]<class F>(const F& f) -> result<double> {
        if constexpr (requires { f.fill_ratio(); }) return f.fill_ratio();
        return cannot<F>("tell its fill");
    });
}
result<double> any_filter::approximate_size() const {
    return visit([]<class F>(const F& f) -> result<double> {
        if constexpr (requires { f.approximate_size(); }) return f.approximate_size();
        return cannot<F>("estimate its keys");
    });
}
result<double> any_filter::expected_fpr() const {
    return visit([]<class F>(const F& f) -> result<double> {
        if constexpr (requires { f.expected_fpr(); }) return f.expected_fpr();
        return cannot<F>("tell its rate");
    });
}
result<std::uint64_t> any_filter::capacity(double rate) const {
    return visit([&]<class F>(const F& f) -> result<std::uint64_t> {
        if constexpr (requires { f.capacity(rate); }) {
            if (!(rate > 0) || !(rate < 1))
                return failure{error_code::invalid_argument, "the rate must lie between 0 and 1"};
            return f.capacity(rate);
        }
        return cannot<F>("tell its capacity");
    });
}

detail::stored_form any_filter::stored() const {
    return visit([](const auto& f) { return f.stored(); });
}

namespace {

// make<F>() of the kind `id`, with the given words.
template <class Words, class Make>
result<any_filter> of_kind(std::uint16_t id, Make make) {
    std::optional<result<any_filter>> out;
    for_each_kind<Words>([&]<class F>() {
        if (F::kind_id != id) return;
        auto made = make.template operator()<F>();
        if (made)
            out.emplace(any_filter(std::move(*made)));
        else
            out.emplace(made.error());
    });
    return std::move(*out); // check_known() has found the kind
}

} // namespace

result<any_filter> open(const std::string& path, access how, const memory_options& memory,
                        verification checks) {
    auto info = inspect(path);
    if (!info) return info.error();
    // Should a file of another kind take its place in between, the load below says mismatch and names both.
    if (how == access::map)
        return of_kind<const_words>(info->kind, [&]<class F>() -> result<F> {
            if constexpr (detail::mappable<F>) return bouncer::map<F>(path, checks);
            return cannot<F>("be mapped: load it");
        });
    return of_kind<atomic_words>(info->kind, [&]<class F>() { return load<F>(path, memory); });
}

result<any_filter> open(const byte_source& source, const memory_options& memory) {
    if (!source) return failure{error_code::invalid_argument, "there is no source to open"};
    // The header is read first to learn the kind, then read again from memory by the load of that kind.
    detail::header_page header;
    std::size_t have = 0;
    while (have < header.size()) {
        auto got = source(std::span(header).subspan(have));
        if (!got) return got.error();
        if (*got == 0) return failure{error_code::corrupt, "it ends within the header"};
        if (*got > header.size() - have)
            return failure{error_code::io, "the source says that it gave more bytes than it was asked for"};
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
    return of_kind<atomic_words>(info->kind, [&]<class F>() { return load<F>(again, memory); });
}

} // namespace bouncer
