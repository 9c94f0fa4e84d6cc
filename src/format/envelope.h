// The envelope of every stored filter, byte by byte: docs/format.md. Header, payload in chunks, footer.
#pragma once

#include <bouncer/detail/stored.h>
#include <bouncer/snapshot.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::detail {

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
inline constexpr std::size_t chunk_words = chunk_bytes / 8;
inline constexpr std::size_t page_unit = 4096; // the payload is filled up with zeros to a multiple of this

inline constexpr std::size_t state_offset = header_bytes - 8;
// Far apart: no damage of a few bits makes one of the other.
inline constexpr std::uint64_t state_sealed = 0x5ea1ed5ea1ed5ea1u;
inline constexpr std::uint64_t state_live = 0xa15e12a15e12a15eu;

using header_page = std::array<std::byte, header_bytes>;

// [any-thread] The payload's bytes in the file, and how many chunks they are.
constexpr std::uint64_t padded_bytes(std::uint64_t payload_bytes) noexcept {
    return (payload_bytes + page_unit - 1) / page_unit * page_unit;
}
constexpr std::uint64_t chunk_count(std::uint64_t payload_bytes) noexcept {
    return (padded_bytes(payload_bytes) + chunk_bytes - 1) / chunk_bytes;
}
// Bytes of chunk i, the padding with it.
constexpr std::size_t bytes_of_chunk(std::uint64_t payload_bytes, std::uint64_t i) noexcept {
    const std::uint64_t left = padded_bytes(payload_bytes) - i * chunk_bytes;
    return static_cast<std::size_t>(left < chunk_bytes ? left : chunk_bytes);
}
constexpr std::uint64_t footer_bytes(std::uint64_t payload_bytes) noexcept {
    return 8 * chunk_count(payload_bytes) + 16;
}
// Of a file that is not compressed.
constexpr std::uint64_t file_bytes(std::uint64_t payload_bytes) noexcept {
    return header_bytes + padded_bytes(payload_bytes) + footer_bytes(payload_bytes);
}

// [any-thread] The header of `info`, its checksum, and the state it names.
header_page encode_header(const snapshot_info& info);
// [any-thread] Everything that can be known from the header alone is checked: magic, version, checksum, reserved bytes,
// state, label, sizes. Errors: corrupt, unknown_version. The kind is checked by who knows the kinds.
result<snapshot_info> decode_header(std::span<const std::byte, header_bytes> page);
// [any-thread] Refuses a kind, a layout, a form or a hash that this library does not know (unknown_version), fields that
// make no sense, and a payload that does not fit them (corrupt).
result<void> check_against(const snapshot_info& info, std::uint16_t kind, std::uint16_t layout_version,
                           const result<std::uint64_t>& words_of_fields);
result<void> check_stored_hash(const hash_spec& spec);

// [any-thread] The checksum of a chunk depends on the file and on its place in it.
std::uint64_t chunk_checksum(const snapshot_info& info, std::uint64_t index,
                             std::span<const std::byte> chunk) noexcept;

// [any-thread] Checksums of all chunks, then footer magic, then the checksum over header (up to its own) and footer.
std::vector<std::byte> encode_footer(const header_page& header, std::span<const std::uint64_t> checksums);
result<std::vector<std::uint64_t>> decode_footer(std::span<const std::byte, header_bytes> header,
                                                 std::span<const std::byte> footer);

// [any-thread] Now, and 128 random bits.
result<void> stamp(snapshot_info& info);

// [any-thread] The form in words, and why a filter of such keys is not opened with keys (mismatch).
std::string form_text(const key_form& keys);
failure formed_keys(const snapshot_info& info);

} // namespace bouncer::detail
