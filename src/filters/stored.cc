#include <bouncer/detail/stored.h>

#include <string>

namespace bouncer::detail {

result<void> check_field_count(std::string_view kind, std::size_t needed, std::size_t given) {
    if (given == needed) return {};
    return failure{error_code::invalid_argument, std::string(kind) + " has " + std::to_string(needed) +
                                                     " parameters, and there are " + std::to_string(given)};
}

result<void> check_words(std::string_view kind, std::uint64_t needed, std::uint64_t given,
                         const std::uint64_t* first) {
    if (given < needed)
        return failure{error_code::corrupt, std::string(kind) + " needs " + std::to_string(needed) +
                                                " words, and there are " + std::to_string(given)};
    if (const auto off = reinterpret_cast<std::uintptr_t>(first) % region::alignment_bytes; off != 0)
        return failure{error_code::corrupt, "the words of a filter must be 64-byte aligned, and are " +
                                                std::to_string(off) + " bytes off"};
    return {};
}

} // namespace bouncer::detail
