// The members of basic_any_hasher, for any list: that of the library in any_hasher.cc, a longer one in a test.
#include <bouncer/any_hasher.h>

#include <algorithm>

namespace bouncer {

namespace detail {

inline std::string names_of(std::span<const hash_info> hashes) {
    std::string out(hashes.front().name);
    for (const hash_info& each : hashes.subspan(1))
        out.append(&each == &hashes.back() ? " and " : ", ").append(each.name);
    return out;
}

} // namespace detail

template <class List>
result<basic_any_hasher<List>> basic_any_hasher<List>::made(const hash_info& hash, std::uint64_t seed,
                                                            const std::optional<secret_key>& key) {
    const auto refused = [&](const std::string& why) {
        return failure{error_code::invalid_argument, std::string(hash.name) + why};
    };
    if (key && !hash.takes_key) return refused(" takes no secret key");
    if (seed != 0 && hash.seed_bits == 0) return refused(" takes no seed");
    if (!key && hash.takes_key) return refused(" needs a secret key, and none was given");
    if (hash.seed_bits < 64 && seed >> hash.seed_bits != 0)
        return refused(" takes a seed of " + std::to_string(hash.seed_bits) + " bits, not " +
                       std::to_string(seed));
    basic_any_hasher out;
    List::for_each([&]<class Hasher>() {
        if (Hasher::algorithm == hash.id) out = detail::hasher_from<Hasher>(seed, key.value_or(secret_key{}));
    });
    return out;
}

template <class List>
result<basic_any_hasher<List>> basic_any_hasher<List>::make(std::string_view name, std::uint64_t seed,
                                                            const std::optional<secret_key>& key) {
    return detail::guarded([&]() -> result<basic_any_hasher> {
        const auto* const hash = std::ranges::find(hashes, name, &hash_info::name);
        if (hash == hashes.end())
            return failure{error_code::invalid_argument, "no hash is called \"" + std::string(name) +
                                                             "\"; there are " + detail::names_of(hashes)};
        return made(*hash, seed, key);
    });
}

template <class List>
result<basic_any_hasher<List>> basic_any_hasher<List>::make(const hash_spec& spec,
                                                            const std::optional<secret_key>& key) {
    return detail::guarded([&]() -> result<basic_any_hasher> {
        if (spec.algorithm == prehashed.id)
            return failure{error_code::unsupported,
                           "the filter is prehashed: it knows no hash of keys, only 64-bit hashes"};
        const auto* const hash = std::ranges::find(hashes, spec.algorithm, &hash_info::id);
        if (hash == hashes.end())
            return failure{error_code::unsupported, "no built-in hasher: " + to_string(spec)};
        auto out = made(*hash, hash->takes_key ? 0 : spec.seed_or_fingerprint, key);
        if (!out) return out;
        if (auto ok = check_same_hash(spec, out->spec()); !ok) return ok.error();
        return out;
    });
}

// Flattened: of a template g++ would leave the visit to another function, 0.8 ns.
template <class List>
[[gnu::flatten]] std::uint64_t basic_any_hasher<List>::other(std::span<const std::byte> key) const noexcept {
    return visit([&](const auto& chosen) { return hash_key(chosen, key); });
}

template <class List>
void basic_any_hasher<List>::batch(std::span<const std::string_view> keys,
                                   std::span<std::uint64_t> out) const noexcept {
    hash_batch(*this, keys, out);
}

template <class List>
hash_spec basic_any_hasher<List>::spec() const noexcept {
    return visit([](const auto& chosen) { return spec_of(chosen); });
}

} // namespace bouncer
