#include "c_api/arrays.h"
#include "c_api/handle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace bouncer::c_api {

std::optional<secret_key> key_at(const void* bytes) noexcept {
    if (bytes == nullptr) return std::nullopt;
    secret_key key;
    std::memcpy(key.bytes.data(), bytes, key.bytes.size());
    return key;
}

namespace {

// The names of the kinds with a 0 behind each.
using kind_text = std::array<char, sizeof(bouncer_stats::kind)>;
constexpr auto kind_texts = [] {
    std::array<kind_text, all_kinds.size()> out{};
    for (std::size_t i = 0; i < out.size(); ++i)
        std::copy(all_kinds[i].name.begin(), all_kinds[i].name.end(), out[i].begin());
    return out;
}();
static_assert(std::all_of(all_kinds.begin(), all_kinds.end(),
                          [](const kind_info& kind) { return kind.name.size() < kind_text().size(); }));

// Sizes of the struct that callers may have been compiled with: from the first release's on.
constexpr std::uint32_t first_options_size =
    offsetof(bouncer_options, secret_key) + sizeof(bouncer_options::secret_key);
constexpr std::uint32_t options_size_most = 4096; // more is a struct that nobody initialised

result<bouncer_options> read_options(const bouncer_options* given) {
    if (given == nullptr) return bad_argument("the options are NULL");
    const std::uint32_t size = given->size;
    if (size < first_options_size || size > options_size_most)
        return failure{error_code::invalid_argument, "the options' size is " + std::to_string(size) +
                                                         ", and should be sizeof(bouncer_options): start "
                                                         "from BOUNCER_OPTIONS_INIT"};
    // A newer caller: what this library does not know must not be asked for.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
    if (std::any_of(bytes + std::min<std::size_t>(size, sizeof *given), bytes + size,
                    [](unsigned char byte) { return byte != 0; }))
        return failure{error_code::unsupported, "the options have a field that this library, version " +
                                                    std::string(bouncer_version()) + ", does not know"};
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    std::memcpy(&options, given, std::min<std::size_t>(size, sizeof options));
    return options;
}

// The hash of the kind, where the caller names none; any for a name that is no kind.
hash_spec default_hash(std::string_view kind, std::uint64_t seed) {
    hash_spec spec = xxh3{}.spec();
    for_each_kind<atomic_words>([&]<class F>() {
        if (F::kind_name == kind) spec = spec_of(typename F::default_hasher{});
    });
    spec.seed_or_fingerprint = seed;
    return spec;
}

// None for "prehashed".
result<std::optional<any_hasher>> hasher_for_options(std::string_view kind, const bouncer_options& options) {
    const auto key = key_at(options.secret_key);
    if (options.hash != nullptr && options.hash == prehashed.name) {
        if (options.seed != 0 || key)
            return bad_argument("a prehashed filter takes neither a seed nor a secret key");
        return std::optional<any_hasher>();
    }
    auto made = options.hash == nullptr ? any_hasher::make(default_hash(kind, options.seed), key)
                                        : any_hasher::make(options.hash, options.seed, key);
    if (made) return std::optional(*made);
    return failure{made.error().code,
                   made.error().message + (options.hash == nullptr ? "" : " (or prehashed)")};
}

result<goal> goal_of(const bouncer_options& options) {
    if (options.prefer > BOUNCER_PREFER_SPACE)
        return failure{error_code::invalid_argument,
                       "prefer is " + std::to_string(options.prefer) + ", and must be 0, 1 or 2"};
    goal wanted{.keys = options.keys, .prefer = static_cast<prefer>(options.prefer)};
    if (options.false_positive_rate != 0) wanted.false_positive_rate = options.false_positive_rate;
    if (options.size_bytes != 0) wanted.size_bytes = options.size_bytes;
    return wanted;
}

static_assert(BOUNCER_PREFER_READS == static_cast<int>(prefer::reads));
static_assert(BOUNCER_PREFER_ADDS == static_cast<int>(prefer::adds));
static_assert(BOUNCER_PREFER_SPACE == static_cast<int>(prefer::space));

// What create and build share: options, goal and hasher, then make(goal, spec), then a handle.
template <class Make>
result<void> make_handle(std::string_view kind, const bouncer_options* options, bouncer_filter** out,
                         Make make) {
    if (out == nullptr) return bad_argument("the place for the filter is NULL");
    auto chosen = read_options(options);
    if (!chosen) return chosen.error();
    auto wanted = goal_of(*chosen);
    if (!wanted) return wanted.error();
    auto hasher = hasher_for_options(kind, *chosen);
    if (!hasher) return hasher.error();
    result<any_filter> made = make(*wanted, *hasher);
    if (!made) return made.error();
    auto handle = std::make_unique<bouncer_filter>(std::move(*made));
    handle->hasher = *hasher;
    handle->keys_designed = chosen->keys;
    if (const auto held = handle->filter.approximate_size(); !handle->filter.writable() && held)
        handle->keys_designed = static_cast<std::uint64_t>(*held); // static
    handle->fpr_promised = chosen->false_positive_rate;
    *out = handle.release();
    return {};
}

hash_spec spec_or_prehashed(const std::optional<any_hasher>& hasher) {
    return hasher ? hasher->spec() : hash_spec{};
}

} // namespace

} // namespace bouncer::c_api

using namespace bouncer;
using namespace bouncer::c_api;

const char* bouncer_version(void) {
    return BOUNCER_VERSION;
}

size_t bouncer_kind_count(void) {
    return kind_texts.size();
}

const char* bouncer_kind_name(size_t index) {
    return index < kind_texts.size() ? kind_texts[index].data() : nullptr;
}

int bouncer_create(const char* kind, const bouncer_options* options, bouncer_filter** out) {
    return guarded([&]() -> result<void> {
        if (kind == nullptr) return bad_argument("the kind is NULL");
        return make_handle(kind, options, out, [&](const goal& wanted, const auto& hasher) {
            return any_filter::create(kind, wanted, {.hash = spec_or_prehashed(hasher)});
        });
    });
}

int bouncer_build(const char* kind, const bouncer_options* options, const bouncer_key* keys, size_t count,
                  bouncer_filter** out) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_keys(keys, count); !ok) return ok;
        const std::string_view name = kind == nullptr ? "" : kind;
        return make_handle(
            name, options, out, [&](const goal& wanted, const auto& hasher) -> result<any_filter> {
                if (!hasher)
                    return bad_argument("prehashed keys are hashes: bouncer_build_hashes takes them");
                std::vector<std::uint64_t> hashes(count);
                auto hashed = in_chunks(*hasher, {keys, count}, [&](std::size_t first, auto some) {
                    std::copy(some.begin(), some.end(), hashes.begin() + static_cast<std::ptrdiff_t>(first));
                    return result<void>();
                });
                if (!hashed) return hashed.error();
                return any_filter::build(hashes, wanted, {.hash = hasher->spec()}, name);
            });
    });
}

int bouncer_build_hashes(const char* kind, const bouncer_options* options, const uint64_t* hashes,
                         size_t count, bouncer_filter** out) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_hashes(hashes, count); !ok) return ok;
        const std::string_view name = kind == nullptr ? "" : kind;
        return make_handle(name, options, out, [&](const goal& wanted, const auto& hasher) {
            return any_filter::build(std::span(hashes, count), wanted, {.hash = spec_or_prehashed(hasher)},
                                     name);
        });
    });
}

void bouncer_destroy(bouncer_filter* filter) {
    delete filter;
}
