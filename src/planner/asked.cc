#include "planner/asked.h"

#include <bouncer/detail/format.h>

#include <cmath>
#include <numbers>

namespace bouncer::planner {

namespace {

using detail::scientific;

failure nonsense(const std::string& message) {
    return {error_code::invalid_argument, message};
}

result<void> check_each(const wishes& wanted) {
    if (wanted.keys && *wanted.keys == 0) return nonsense("keys must be at least 1, and is 0");
    if (wanted.keys && *wanted.keys > keys_most)
        return failure{error_code::too_large, "keys must be at most 2^48 = " + std::to_string(keys_most) +
                                                  ", and is " + std::to_string(*wanted.keys)};
    if (wanted.rate)
        if (auto ok = check_rate("the rate", *wanted.rate); !ok) return ok;
    if (wanted.size_bytes && *wanted.size_bytes < 64)
        return nonsense("the memory must be at least one cache line, 64 bytes, and is " +
                        std::to_string(*wanted.size_bytes));
    if (wanted.bits_per_key && !(*wanted.bits_per_key > 0 && *wanted.bits_per_key <= 4096))
        return nonsense("bits per key must be above 0 and at most 4096, and is " +
                        scientific(*wanted.bits_per_key));
    if (wanted.k && (*wanted.k < 1 || *wanted.k > 64))
        return nonsense("k must be 1 to 64, and is " + std::to_string(*wanted.k));
    if (wanted.rate && wanted.keys) {
        const double collisions = static_cast<double>(*wanted.keys) * 0x1p-64;
        if (*wanted.rate <= collisions)
            return nonsense("64-bit hashes of " + std::to_string(*wanted.keys) +
                            " keys cannot keep a rate of " + scientific(*wanted.rate) +
                            ": their collisions alone give " + scientific(collisions));
    }
    return {};
}

// Bytes of so many keys with so many bits each, rounded to the next byte.
result<std::uint64_t> bytes_of(std::uint64_t keys, double bits_per_key) {
    const double bytes = std::ceil(static_cast<double>(keys) * bits_per_key / 8);
    if (bytes > 0x1p50)
        return failure{error_code::too_large, std::to_string(keys) + " keys of " + scientific(bits_per_key) +
                                                  " bits are more than 2^50 bytes"};
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(bytes), 64);
}

result<std::uint64_t> keys_in(std::uint64_t bytes, double bits_per_key) {
    const double keys = std::floor(8 * static_cast<double>(bytes) / bits_per_key);
    if (keys < 1)
        return nonsense(std::to_string(bytes) + " bytes hold no key of " + scientific(bits_per_key) +
                        " bits");
    if (keys > static_cast<double>(keys_most))
        return failure{error_code::too_large, std::to_string(bytes) + " bytes hold more than 2^48 keys of " +
                                                  scientific(bits_per_key) + " bits"};
    return static_cast<std::uint64_t>(keys);
}

result<asked> with_bits(asked out, double bits) {
    if (out.keys && out.size_bytes) {
        const double given = 8 * static_cast<double>(*out.size_bytes) / static_cast<double>(*out.keys);
        if (std::abs(given - bits) > 0.01 * bits)
            return nonsense("keys, memory and bits per key contradict each other: " +
                            std::to_string(*out.size_bytes) + " bytes for " + std::to_string(*out.keys) +
                            " keys are " + scientific(given) + " bits per key, not " + scientific(bits));
        return out;
    }
    if (out.keys) {
        auto bytes = bytes_of(*out.keys, bits);
        if (!bytes) return bytes.error();
        out.size_bytes = *bytes;
        out.from_bits = true;
        return out;
    }
    if (out.size_bytes) {
        auto keys = keys_in(*out.size_bytes, bits);
        if (!keys) return keys.error();
        out.keys = *keys;
        return out;
    }
    return nonsense("bits per key are not enough: give the keys or the memory too");
}

} // namespace

result<void> check_rate(const char* name, double rate) {
    if (!(rate > 0) || !(rate < 1))
        return nonsense(std::string(name) + " must lie between 0 and 1, and is " + scientific(rate));
    return {};
}

result<asked> complete(const wishes& wanted) {
    if (auto ok = check_each(wanted); !ok) return ok.error();
    asked out{wanted.keys, wanted.rate, wanted.size_bytes};
    if (wanted.bits_per_key) return with_bits(out, *wanted.bits_per_key);
    // k alone is best at k / ln 2 bits per key.
    const int given = out.keys.has_value() + out.rate.has_value() + out.size_bytes.has_value();
    if (wanted.k && given == 1 && !out.rate) return with_bits(out, *wanted.k / std::numbers::ln2);
    if (given < 2) {
        const char* const have = out.keys         ? "the keys alone are"
                                 : out.rate       ? "the rate alone is"
                                 : out.size_bytes ? "the memory alone is"
                                                  : "nothing is given, which is";
        return nonsense(std::string(have) +
                        " not enough: give two of keys, rate and memory (or bits per key)");
    }
    return out;
}

} // namespace bouncer::planner
