// What a key is, and the bytes it stands for. Every built-in hasher takes keys through here and nowhere else.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include <bouncer/detail/bits.h>

namespace bouncer {

namespace detail {

__extension__ typedef __int128 int128;

template <class T, class... Choices>
inline constexpr bool is_one_of = (std::is_same_v<T, Choices> || ...);

template <class T>
inline constexpr bool is_byte = is_one_of<T, std::byte, char, signed char, unsigned char, char8_t>;

// bool is left out because a comparison passed by mistake would be a key; the wide characters because their
// literals are arrays with a terminator, and wchar_t has another size elsewhere. 128 bits count in every -std
// mode, although std::is_integral knows them in the gnu modes only.
template <class T>
inline constexpr bool is_key_integer = is_one_of<T, int128, uint128> ||
                                       (std::is_integral_v<T> &&
                                        !is_one_of<std::remove_cv_t<T>, bool, wchar_t, char16_t, char32_t>);

template <class T, bool = std::is_enum_v<T>>
inline constexpr bool is_key_scalar = is_key_integer<T>;
template <class T>
inline constexpr bool is_key_scalar<T, true> = is_key_integer<std::underlying_type_t<T>>;

template <class T>
concept text = !std::is_null_pointer_v<T> && (std::is_convertible_v<const T&, std::string_view> ||
                                              std::is_convertible_v<const T&, std::u8string_view>);

template <class T>
concept byte_range = std::ranges::contiguous_range<const T> && std::ranges::sized_range<const T> &&
    is_byte<std::ranges::range_value_t<const T>>;

// On a big-endian machine such a key is copied, with its elements swapped, onto the stack: hence the limit.
inline constexpr std::size_t max_array_key_bytes = 4096;

template <class T>
inline constexpr bool is_integer_array = false;
template <class T, std::size_t Size>
inline constexpr bool is_integer_array<T[Size]> = is_key_scalar<T>&& Size * sizeof(T) <= max_array_key_bytes;
template <class T, std::size_t Size>
inline constexpr bool is_integer_array<std::array<T, Size>> = is_integer_array<T[Size]>;
template <class T>
inline constexpr bool is_integer_array<std::array<T, 0>> = is_key_scalar<T>;

template <class T>
inline constexpr bool is_character_array = false;
template <std::size_t Size>
inline constexpr bool is_character_array<char[Size]> = true;
template <std::size_t Size>
inline constexpr bool is_character_array<char8_t[Size]> = true;

} // namespace detail

// A key is one of
//   - text: whatever converts to std::string_view or std::u8string_view, without its terminating NUL;
//   - bytes: a contiguous range of std::byte, char, signed char, unsigned char or char8_t;
//   - an integer or an enumeration: the little-endian bytes of its size, so int{1} and long{1} differ;
//   - a fixed array, T[N] or std::array<T, N>, of those: its elements in order, at most 4096 bytes.
// Equal bytes hash alike whatever the form. Refused: bool, wide characters, floating point (two zeros, many
// NaNs), pointers, and structs, whose padding has no value: hash their fields by a hasher of your own.
template <class Key>
concept hashable_key = detail::text<Key> || detail::byte_range<Key> || detail::is_key_scalar<Key> ||
    detail::is_integer_array<Key>;

namespace detail {

// The elements' bytes, each element in little-endian order. Folds to nothing where that is the machine's own.
template <std::size_t Count, class T>
[[gnu::always_inline]] inline auto little_endian_bytes(const T* elements) noexcept {
    std::array<std::byte, Count * sizeof(T)> bytes;
    if constexpr (Count > 0) std::memcpy(bytes.data(), elements, bytes.size());
    if constexpr (std::endian::native == std::endian::big) {
        for (auto at = bytes.begin(); at != bytes.end(); at += sizeof(T)) std::reverse(at, at + sizeof(T));
    }
    return bytes;
}

// A literal or a buffer: its characters up to the first NUL or, where there is none, to the end of the array.
[[gnu::always_inline]] inline std::span<const std::byte> up_to_nul(const void* characters,
                                                                   std::size_t size) noexcept {
    const auto* const begin = static_cast<const std::byte*>(characters);
    const auto* const end = static_cast<const std::byte*>(std::memchr(characters, 0, size));
    const std::size_t length = end ? static_cast<std::size_t>(end - begin) : size;
    if (length > size)
        __builtin_unreachable(); // g++ 12 does not know memchr's range, and warns of longer loads
    return {begin, length};
}

// The bytes of a key: a view of memory the key owns, or for scalars an array of their own. Never allocates.
template <hashable_key Key>
[[gnu::always_inline]] inline auto key_bytes(const Key& key) noexcept {
    if constexpr (is_character_array<Key>) {
        return up_to_nul(key, sizeof key);
    } else if constexpr (std::is_convertible_v<const Key&, std::string_view>) {
        const std::string_view view = key;
        return std::as_bytes(std::span(view.data(), view.size()));
    } else if constexpr (text<Key>) {
        const std::u8string_view view = key;
        return std::as_bytes(std::span(view.data(), view.size()));
    } else if constexpr (byte_range<Key>) {
        return std::as_bytes(std::span(std::ranges::data(key), std::ranges::size(key)));
    } else if constexpr (is_key_scalar<Key>) {
        return little_endian_bytes<1>(std::addressof(key));
    } else if constexpr (std::endian::native == std::endian::little) {
        return std::as_bytes(std::span(key));
    } else {
        return little_endian_bytes<decltype(std::span(key))::extent>(std::data(key));
    }
}

} // namespace detail

} // namespace bouncer
