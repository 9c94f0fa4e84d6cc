#include <bouncer/detail/stored.h>

#include <string>

namespace bouncer::detail {

result<void> check_field_count(std::string_view kind, std::size_t needed, std::size_t given) {
    if (given == needed) return {};
    return failure{error_code::invalid_argument, std::string(kind) + " has " + std::to_string(needed) +
                                                     " parameters, and there are " + std::to_string(given)};
}

result<void> check_words(std::string_view kind, std::uint64_t needed, const region& given) {
    if (const std::uint64_t words = given.size_bytes() / sizeof(std::uint64_t); words < needed)
        return failure{error_code::corrupt, std::string(kind) + " needs " + std::to_string(needed) +
                                                " words, and there are " + std::to_string(words)};
    if (const auto off = reinterpret_cast<std::uintptr_t>(given.data()) % region::alignment_bytes; off != 0)
        return failure{error_code::corrupt, "the words of a filter must be 64-byte aligned, and are " +
                                                std::to_string(off) + " bytes off"};
    return {};
}

} // namespace bouncer::detail
