// Parquet's BloomFilterHeader in Thrift's compact protocol, by hand: there is one form that a reader need understand.
//   15 N          field 1, i32: numBytes, a zigzag varint
//   1c 1c 00 00   field 2, a union: member 1, an empty struct: the algorithm, split blocks
//   1c 1c 00 00   field 3: the hash, XXH64
//   1c 1c 00 00   field 4: the compression, none
//   00            the end; the bitset follows
#include "format/foreign.h"

#include <bouncer/split_block_bloom.h>

#include <array>

namespace bouncer::detail {

namespace {

constexpr std::byte i32_field{0x15};
constexpr std::byte struct_field{0x1c};
constexpr std::byte stop{0x00};

failure no_header(const std::string& why) {
    return {error_code::corrupt, "no header of a Parquet Bloom filter: " + why};
}

result<std::byte> next_byte(const header_source& source) {
    std::byte out;
    if (auto ok = read_whole(source, {&out, 1}, "the header of a Parquet Bloom filter"); !ok)
        return ok.error();
    return out;
}

result<std::uint64_t> read_size(const header_source& source) {
    auto field = next_byte(source);
    if (!field) return field.error();
    if (*field != i32_field)
        return no_header("it begins with byte " + std::to_string(std::to_integer<unsigned>(*field)) +
                         ", and one with 21");
    std::uint64_t zigzag = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (shift > 28) return no_header("numBytes has more than 32 bits");
        auto part = next_byte(source);
        if (!part) return part.error();
        zigzag |= (std::to_integer<std::uint64_t>(*part) & 0x7f) << shift;
        if ((*part & std::byte{0x80}) == std::byte{}) break;
    }
    const std::uint64_t bytes = zigzag / 2;
    const bool negative = zigzag % 2 != 0; // -1 - bytes
    if (negative || bytes == 0 || bytes % 32 != 0 || bytes > split_block_layout::blocks_most * 32) {
        std::string said = negative ? "numBytes is -" : "numBytes is ";
        said += std::to_string(negative ? bytes + 1 : bytes);
        return no_header(said + ", which must be a multiple of 32, from 32 to 134217728");
    }
    return bytes;
}

// A union of which we know the first member only.
result<void> read_choice(const header_source& source, const char* what, const char* known) {
    std::array<std::byte, 2> begin;
    for (std::byte& each : begin) {
        auto got = next_byte(source);
        if (!got) return got.error();
        each = *got;
    }
    if (begin[0] != struct_field) return no_header(std::string("the ") + what + " is missing");
    if (begin[1] != struct_field)
        return failure{error_code::unsupported, std::string("the ") + what +
                                                    " of this Parquet Bloom filter is not " + known +
                                                    ", the only one known"};
    for (int i = 0; i < 2; ++i) {
        auto end = next_byte(source);
        if (!end) return end.error();
        if (*end != stop)
            return failure{error_code::unsupported, std::string("the ") + what +
                                                        " of this Parquet Bloom filter has parameters, and " +
                                                        known + " has none"};
    }
    return {};
}

result<snapshot_info> read_parquet(const header_source& source) {
    auto bytes = read_size(source);
    if (!bytes) return bytes.error();
    if (auto ok = read_choice(source, "algorithm", "split blocks"); !ok) return ok.error();
    if (auto ok = read_choice(source, "hash", "XXH64"); !ok) return ok.error();
    if (auto ok = read_choice(source, "compression", "none"); !ok) return ok.error();
    auto end = next_byte(source);
    if (!end) return end.error();
    if (*end != stop) return no_header("it has more than four fields");
    snapshot_info info;
    info.kind = split_block_layout::kind_id;
    info.layout_version = split_block_layout::layout_version;
    info.hash = split_block_layout::default_hash();
    info.fields = {*bytes / 32};
    info.payload_bytes = *bytes;
    return info;
}

std::vector<std::byte> parquet_header(const snapshot_info& info) {
    std::vector<std::byte> out{i32_field};
    for (std::uint64_t zigzag = info.payload_bytes * 2;; zigzag >>= 7) {
        const bool last = zigzag < 0x80;
        out.push_back(static_cast<std::byte>((zigzag & 0x7f) | (last ? 0u : 0x80u)));
        if (last) break;
    }
    for (int field = 2; field <= 4; ++field) out.insert(out.end(), {struct_field, struct_field, stop, stop});
    out.push_back(stop);
    return out;
}

} // namespace

const foreign_codec parquet_codec{
    .name = "parquet-sbbf",
    .kind = split_block_layout::kind_id,
    .has_metadata = false,
    .read_header = read_parquet,
    .header_of = parquet_header,
    .last_word = [](const snapshot_info&) { return ~std::uint64_t{0}; },
    .complete = [](snapshot_info&, const std::function<result<std::uint64_t>()>&) -> result<void> {
        return {};
    }};

} // namespace bouncer::detail
