#include <bouncer/any_hasher.h>

namespace bouncer {

namespace {

// One that exists has an id from 1 on; 0, prehashed, is no hash of keys.
std::optional<hash_algorithm> algorithm_called(std::string_view name) noexcept {
    for (std::uint32_t id = 1; !detail::hash_name(id).empty(); ++id)
        if (detail::hash_name(id) == name) return static_cast<hash_algorithm>(id);
    return std::nullopt;
}

std::string every_name() {
    std::string out(detail::hash_name(1));
    for (std::uint32_t id = 2; !detail::hash_name(id).empty(); ++id)
        out += (detail::hash_name(id + 1).empty() ? " and " : ", ") + std::string(detail::hash_name(id));
    return out;
}

failure no_hash_of_keys() {
    return {error_code::unsupported, "the filter is prehashed: it knows no hash of keys, only 64-bit hashes"};
}

result<any_hasher> made(hash_algorithm algorithm, std::uint64_t seed, const std::optional<secret_key>& key) {
    const auto id = static_cast<std::uint32_t>(algorithm);
    const auto refused = [&](const std::string& why) {
        return failure{error_code::invalid_argument, std::string(detail::hash_name(id)) + why};
    };
    if (key && !detail::hash_takes_key(id)) return refused(" takes no secret key");
    if (seed != 0 && !detail::hash_takes_seed(id)) return refused(" takes no seed");
    if (!key && detail::hash_takes_key(id)) return refused(" needs a secret key, and none was given");
    switch (algorithm) {
    case hash_algorithm::xxh3: return any_hasher(xxh3{seed});
    case hash_algorithm::xxh64: return any_hasher(xxh64{seed});
    case hash_algorithm::murmur3:
        if (seed > UINT32_MAX) return refused(" takes a seed of 32 bits, not " + std::to_string(seed));
        return any_hasher(murmur3{static_cast<std::uint32_t>(seed)});
    case hash_algorithm::fnv1a: return any_hasher(fnv1a{});
    case hash_algorithm::siphash13: return any_hasher(siphash13(*key));
    case hash_algorithm::siphash24: return any_hasher(siphash24(*key));
    case hash_algorithm::fnv1: return any_hasher(fnv1{});
    case hash_algorithm::prehashed: break;
    }
    return no_hash_of_keys();
}

} // namespace

result<any_hasher> any_hasher::make(std::string_view name, std::uint64_t seed,
                                    const std::optional<secret_key>& key) {
    return detail::guarded([&]() -> result<any_hasher> {
        const auto algorithm = algorithm_called(name);
        if (!algorithm)
            return failure{error_code::invalid_argument,
                           "no hash is called \"" + std::string(name) + "\"; there are " + every_name()};
        return made(*algorithm, seed, key);
    });
}

result<any_hasher> any_hasher::make(const hash_spec& spec, const std::optional<secret_key>& key) {
    return detail::guarded([&]() -> result<any_hasher> {
        if (detail::hash_name(spec.algorithm).empty())
            return failure{error_code::unsupported, "no built-in hasher: " + to_string(spec)};
        if (spec.algorithm == static_cast<std::uint32_t>(hash_algorithm::prehashed)) return no_hash_of_keys();
        const std::uint64_t seed = detail::hash_takes_key(spec.algorithm) ? 0 : spec.seed_or_fingerprint;
        auto out = made(static_cast<hash_algorithm>(spec.algorithm), seed, key);
        if (!out) return out;
        if (auto ok = check_same_hash(spec, out->spec()); !ok) return ok.error();
        return out;
    });
}

std::uint64_t any_hasher::other(std::span<const std::byte> key) const noexcept {
    return visit([&](const auto& chosen) { return hash_key(chosen, key); });
}

void any_hasher::batch(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const noexcept {
    hash_batch(*this, keys, out);
}

hash_spec any_hasher::spec() const noexcept {
    return visit([](const auto& chosen) { return spec_of(chosen); });
}

} // namespace bouncer
