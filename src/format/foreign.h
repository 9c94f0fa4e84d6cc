// What the formats of other programs have in common: a header, then the words of one kind, then perhaps free bytes.
#pragma once

#include <bouncer/interchange.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bouncer::detail {

// A stream to read a header from. Fewer bytes than asked: it has ended.
using header_source = byte_source;

struct foreign_codec {
    std::string_view name;
    std::uint16_t kind;
    bool has_metadata; // bytes behind the words, of any number

    // Reads the header and no byte more. The info has kind, layout, hash, fields, payload_bytes and what is told of
    // keys and rate, all of it checked.
    result<snapshot_info> (*read_header)(const header_source& source);
    // What read_header reads.
    std::vector<std::byte> (*header_of)(const snapshot_info& info);
    // Which bits of the last word may be set.
    std::uint64_t (*last_word)(const snapshot_info& info);
    // Fills in what the header needs and the snapshot does not tell. `ones`: counts the set bits.
    result<void> (*complete)(snapshot_info& info, const std::function<result<std::uint64_t>()>& ones);
};

extern const foreign_codec dcso_codec;
extern const foreign_codec parquet_codec;

// [any-thread] All of `into`, or corrupt: names what ended too early.
result<void> read_whole(const byte_source& source, std::span<std::byte> into, std::string_view what);

} // namespace bouncer::detail
