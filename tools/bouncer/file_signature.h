// What a file is, by its first bytes: to unpack it, or to say what was given where something else was wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bouncer::tool {

enum class unpacking : std::uint8_t {
    gzip,
    zstd,
    xz,
    bzip2,
    lz4,
    skippable, // zstd or lz4: what follows the first frame tells
    refused,   // it must be unpacked first, or holds no keys
};

// No line of text begins like one of these: each has bytes that are not text, or ten that nobody types.
struct signature {
    std::string_view bytes;                               // the first of the file
    std::string_view name;                                // "a gzip file"
    unpacking by;                                         // what decodes it
    std::string_view hint;                                // where it is not decoded: what to do instead
    std::size_t any_low_half_at = std::string_view::npos; // of this byte the low four bits may be any
};

inline constexpr std::size_t signature_most = 10; // bytes of the longest
inline constexpr std::string_view unpack_first = "unpack it first";

// [any-thread] The signature that these bytes begin with; null if there is none.
const signature* signature_of(std::string_view first) noexcept;
// [any-thread] Whether more bytes could make one of these.
bool may_become_signature(std::string_view first) noexcept;

// [any-thread] A tar archive has its mark at byte 257.
inline constexpr std::size_t tar_mark_end = 262;
bool is_tar(std::string_view first) noexcept;

// What these look like, in the words of look_of().
inline constexpr std::string_view text_look = "text";
inline constexpr std::string_view dcso_look = "a DCSO filter";
inline constexpr std::string_view parquet_filter_look = "a Bloom filter out of a Parquet file";

// [any-thread] What the file looks like, for a message: "a gzip file", "a DCSO filter", "text". Empty if that is not known
// or it cannot be read. Waits for nothing: of a pipe it says nothing.
std::string look_of(const std::string& path);
// [any-thread] Whether it begins as our own files do.
bool is_filter_file(const std::string& path);

} // namespace bouncer::tool
