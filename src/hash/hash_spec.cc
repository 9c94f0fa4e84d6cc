#include <bouncer/detail/hash_spec.h>

#include <charconv>

namespace bouncer {

namespace {

std::string hex(std::uint64_t value, std::size_t digits) {
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
    const auto length = static_cast<std::size_t>(end - text);
    return "0x" + std::string(digits > length ? digits - length : 0, '0') + std::string(text, length);
}

// Such a hash has no seed, but a file may claim one.
bool is_seedless(std::uint32_t algorithm) noexcept {
    return !detail::hash_takes_seed(algorithm) && !detail::hash_takes_key(algorithm);
}

} // namespace

std::string_view detail::hash_name(std::uint32_t algorithm) noexcept {
    switch (static_cast<hash_algorithm>(algorithm)) {
    case hash_algorithm::prehashed: return "prehashed";
    case hash_algorithm::xxh3: return "xxh3";
    case hash_algorithm::xxh64: return "xxh64";
    case hash_algorithm::murmur3: return "murmur3";
    case hash_algorithm::fnv1a: return "fnv1a";
    case hash_algorithm::siphash13: return "siphash13";
    case hash_algorithm::siphash24: return "siphash24";
    case hash_algorithm::fnv1: return "fnv1";
    }
    return {};
}

bool detail::hash_takes_key(std::uint32_t algorithm) noexcept {
    const auto which = static_cast<hash_algorithm>(algorithm);
    return which == hash_algorithm::siphash13 || which == hash_algorithm::siphash24;
}

bool detail::hash_takes_seed(std::uint32_t algorithm) noexcept {
    const auto which = static_cast<hash_algorithm>(algorithm);
    return which != hash_algorithm::prehashed && which != hash_algorithm::fnv1a &&
           which != hash_algorithm::fnv1 && !hash_takes_key(algorithm);
}

std::string to_string(const hash_spec& spec) {
    const std::uint64_t value = spec.seed_or_fingerprint;
    if (spec.algorithm >= first_user_hash_id)
        return "user hasher " + hex(spec.algorithm, 8) + ", seed or fingerprint " + hex(value, 16);
    const std::string_view known = detail::hash_name(spec.algorithm);
    const std::string name =
        known.empty() ? "unknown hash " + std::to_string(spec.algorithm) : std::string(known);
    if (detail::hash_takes_key(spec.algorithm)) return name + ", key fingerprint " + hex(value, 16);
    if (is_seedless(spec.algorithm) && value == 0) return name;
    return name + ", seed " + std::to_string(value);
}

result<void> check_known_hash(const hash_spec& spec) {
    return detail::guarded([&]() -> result<void> {
        if (spec.algorithm >= first_user_hash_id) return {};
        if (detail::hash_name(spec.algorithm).empty())
            return failure{error_code::invalid_argument,
                           "no hash algorithm has the id " + std::to_string(spec.algorithm)};
        if (is_seedless(spec.algorithm) && spec.seed_or_fingerprint != 0)
            return failure{error_code::invalid_argument, "this hash takes no seed: " + to_string(spec)};
        return {};
    });
}

result<void> check_same_hash(const hash_spec& built, const hash_spec& given) {
    return detail::guarded([&]() -> result<void> {
        if (built == given) return {};
        if (built.algorithm == given.algorithm && detail::hash_takes_key(built.algorithm))
            return failure{error_code::wrong_key,
                           "the secret key is not the one the filter was built with: fingerprint " +
                               hex(given.seed_or_fingerprint, 16) + " instead of " +
                               hex(built.seed_or_fingerprint, 16)};
        return failure{error_code::mismatch, "the filter was built with hash (" + to_string(built) +
                                                 "), not (" + to_string(given) + ")"};
    });
}

} // namespace bouncer
