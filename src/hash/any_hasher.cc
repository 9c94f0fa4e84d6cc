#include <bouncer/any_hasher.h>

namespace bouncer {

namespace {

result<secret_key> needed(const std::optional<secret_key>& key, std::string_view name) {
    if (key) return *key;
    return failure{error_code::invalid_argument,
                   std::string(name) + " needs a secret key, and none was given"};
}

} // namespace

result<any_hasher> any_hasher::make(std::string_view name, std::uint64_t seed,
                                    const std::optional<secret_key>& key) {
    const bool keyed = name == "siphash13" || name == "siphash24";
    if (!keyed && key)
        return failure{error_code::invalid_argument, std::string(name) + " takes no secret key"};
    if ((keyed || name == "fnv1a" || name == "fnv1") && seed != 0)
        return failure{error_code::invalid_argument, std::string(name) + " takes no seed"};
    if (name == "xxh3") return any_hasher(xxh3{seed});
    if (name == "xxh64") return any_hasher(xxh64{seed});
    if (name == "murmur3") {
        if (seed > UINT32_MAX)
            return failure{error_code::invalid_argument,
                           "murmur3 takes a seed of 32 bits, not " + std::to_string(seed)};
        return any_hasher(murmur3{static_cast<std::uint32_t>(seed)});
    }
    if (name == "fnv1a") return any_hasher(fnv1a{});
    if (name == "fnv1") return any_hasher(fnv1{});
    if (keyed) {
        auto secret = needed(key, name);
        if (!secret) return secret.error();
        if (name == "siphash13") return any_hasher(siphash13(*secret));
        return any_hasher(siphash24(*secret));
    }
    return failure{error_code::invalid_argument,
                   "no hash is called \"" + std::string(name) +
                       "\"; there are xxh3, xxh64, murmur3, fnv1a, siphash13, siphash24 and fnv1"};
}

result<any_hasher> any_hasher::make(const hash_spec& spec, const std::optional<secret_key>& key) {
    const auto built = [&](std::string_view name, std::uint64_t seed) -> result<any_hasher> {
        auto out = make(name, seed, key);
        if (!out) return out;
        if (auto ok = check_same_hash(spec, out->spec()); !ok) return ok.error();
        return out;
    };
    switch (static_cast<hash_algorithm>(spec.algorithm)) {
    case hash_algorithm::prehashed:
        return failure{error_code::unsupported,
                       "the filter is prehashed: it knows no hash of keys, only 64-bit hashes"};
    case hash_algorithm::xxh3: return built("xxh3", spec.seed_or_fingerprint);
    case hash_algorithm::xxh64: return built("xxh64", spec.seed_or_fingerprint);
    case hash_algorithm::murmur3: return built("murmur3", spec.seed_or_fingerprint);
    case hash_algorithm::fnv1a: return built("fnv1a", spec.seed_or_fingerprint);
    case hash_algorithm::siphash13: return built("siphash13", 0);
    case hash_algorithm::siphash24: return built("siphash24", 0);
    case hash_algorithm::fnv1: return built("fnv1", spec.seed_or_fingerprint);
    }
    return failure{error_code::unsupported, "no built-in hasher: " + to_string(spec)};
}

std::uint64_t any_hasher::operator()(std::span<const std::byte> key) const noexcept {
    return std::visit([&](const auto& hasher) { return hash_key(hasher, key); }, chosen_);
}

void any_hasher::batch(std::span<const std::string_view> keys, std::span<std::uint64_t> out) const noexcept {
    std::visit([&](const auto& hasher) { hash_batch(hasher, keys, out); }, chosen_);
}

hash_spec any_hasher::spec() const noexcept {
    return std::visit([](const auto& hasher) { return spec_of(hasher); }, chosen_);
}

} // namespace bouncer
