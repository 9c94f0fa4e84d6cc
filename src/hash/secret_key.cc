#include <bouncer/hash.h>

#include <cerrno>
#include <charconv>
#include <sys/random.h>

namespace bouncer {

result<secret_key> secret_key::from_hex(std::string_view digits) {
    return detail::guarded([&]() -> result<secret_key> {
        secret_key key{};
        if (digits.size() != 2 * key.bytes.size())
            return failure{error_code::invalid_argument, "a secret key is 32 hex digits, not " +
                                                             std::to_string(digits.size()) + " characters"};
        for (std::size_t i = 0; i < digits.size(); ++i) {
            std::uint8_t value = 0;
            if (std::from_chars(&digits[i], &digits[i] + 1, value, 16).ec != std::errc())
                return failure{error_code::invalid_argument, "a secret key is 32 hex digits; character " +
                                                                 std::to_string(i + 1) + " is none"};
            key.bytes[i / 2] = (key.bytes[i / 2] << 4) | static_cast<std::byte>(value);
        }
        return key;
    });
}

result<secret_key> secret_key::random() {
    return detail::guarded([&]() -> result<secret_key> {
        secret_key key{};
        std::size_t filled = 0;
        while (filled < key.bytes.size()) {
            const ssize_t got = ::getrandom(key.bytes.data() + filled, key.bytes.size() - filled, 0);
            if (got > 0) {
                filled += static_cast<std::size_t>(got);
            } else if (got == 0 || errno != EINTR) {
                return failure{error_code::io,
                               "getrandom gave no bytes for a secret key, errno " + std::to_string(errno)};
            }
        }
        return key;
    });
}

std::uint64_t secret_key::fingerprint() const noexcept {
    return hash_key(siphash24(*this), "bouncer key v1");
}

} // namespace bouncer
