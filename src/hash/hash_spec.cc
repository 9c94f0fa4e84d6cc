#include <bouncer/all_hashers.h>
#include <bouncer/detail/format.h>

#include <algorithm>

namespace bouncer {

using detail::hex_text;

const hash_info* detail::find_hash(std::uint32_t id) noexcept {
    if (id == prehashed.id) return &prehashed;
    const auto* const found = std::ranges::find(all_hashes, id, &hash_info::id);
    return found == all_hashes.end() ? nullptr : found;
}

std::string to_string(const hash_spec& spec) {
    const std::uint64_t value = spec.seed_or_fingerprint;
    if (spec.algorithm >= first_user_hash_id)
        return "user hasher " + hex_text(spec.algorithm, 8) + ", seed or fingerprint " + hex_text(value);
    const hash_info* const known = detail::find_hash(spec.algorithm);
    const std::string name =
        known ? std::string(known->name) : "unknown hash " + std::to_string(spec.algorithm);
    if (known && known->takes_key) return name + ", key fingerprint " + hex_text(value);
    if (known && known->seed_bits == 0 && value == 0) return name; // but a file may claim a seed
    return name + ", seed " + std::to_string(value);
}

result<void> check_known_hash(const hash_spec& spec) {
    return detail::guarded([&]() -> result<void> {
        if (spec.algorithm >= first_user_hash_id) return {};
        const hash_info* const known = detail::find_hash(spec.algorithm);
        if (!known)
            return failure{error_code::invalid_argument,
                           "no hash algorithm has the id " + std::to_string(spec.algorithm)};
        if (!known->takes_key && known->seed_bits == 0 && spec.seed_or_fingerprint != 0)
            return failure{error_code::invalid_argument, "this hash takes no seed: " + to_string(spec)};
        return {};
    });
}

result<void> check_same_hash(const hash_spec& built, const hash_spec& given) {
    return detail::guarded([&]() -> result<void> {
        if (built == given) return {};
        const hash_info* const known = detail::find_hash(built.algorithm);
        if (built.algorithm == given.algorithm && known && known->takes_key)
            return failure{error_code::wrong_key,
                           "the secret key is not the one the filter was built with: fingerprint " +
                               hex_text(given.seed_or_fingerprint) + " instead of " +
                               hex_text(built.seed_or_fingerprint)};
        return failure{error_code::mismatch, "the filter was built with hash (" + to_string(built) +
                                                 "), not (" + to_string(given) + ")"};
    });
}

} // namespace bouncer
