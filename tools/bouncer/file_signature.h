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

// What a command acts on, beyond naming it.
enum class file_kind : std::uint8_t { unknown, text, dcso_filter, parquet_filter, other };

// No text begins like one of these: each has bytes that are not text, or more that nobody types.
struct signature {
    std::string_view bytes; // the first of the file; empty: it is known by what stands further on
    std::string_view name;  // "a gzip file"
    unpacking by;           // what decodes it
    std::string_view hint;  // where it is not decoded: what to do instead
    std::size_t any_low_half_at = std::string_view::npos;    // of this byte the low four bits may be any
    bool (*also)(std::string_view first) noexcept = nullptr; // what must hold, too
    file_kind kind = file_kind::other;
};

inline constexpr std::size_t look_bytes = 512; // these tell every signature: one block of a tar archive

// [any-thread] The signature of a file that begins with these bytes; null if there is none. Looks at look_bytes of them.
const signature* signature_of(std::string_view first) noexcept;
// [any-thread] Whether more bytes could complete one of these. For a tar archive, whose header is a file's name first, that is
// a question of its own: keys that end with a zero byte begin like one.
bool may_become_signature(std::string_view first) noexcept;
bool may_become_tar(std::string_view first) noexcept;
// [any-thread] What a compressed file was that ends inside its signature, if these are all its bytes; null if they may be text.
// Text they may be without control characters and with valid UTF-8 only.
const signature* cut_signature_of(std::string_view all) noexcept;

inline constexpr std::string_view dcso_filter_name = "a DCSO filter";
inline constexpr std::string_view parquet_filter_name = "a Bloom filter out of a Parquet file";

// [any-thread] What the file looks like. Its name is for a message: "a gzip file", "a DCSO filter", "text"; empty if that is
// not known or the file cannot be read. Waits for nothing: of a pipe it says nothing.
struct look {
    file_kind kind = file_kind::unknown;
    std::string_view name;
};
look look_of(const std::string& path);
// [any-thread] Whether it begins as our own files do.
bool is_filter_file(const std::string& path);

} // namespace bouncer::tool
