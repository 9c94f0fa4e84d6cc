#include "file_signature.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>

namespace bouncer::tool {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view our_mark = "\x89"
                                      "BNC\r\n\x1a\n"sv;

constexpr std::string_view unpack_first = "unpack it first";
constexpr std::string_view keys_wanted = "keys are wanted here";

// A number of `size` bytes, little-endian.
std::uint64_t number_at(std::string_view first, std::size_t at, std::size_t size) noexcept {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < size; ++i)
        out |= std::uint64_t{static_cast<unsigned char>(first[at + i])} << (8 * i);
    return out;
}

bool all_of(std::string_view bytes, std::string_view set) noexcept {
    return bytes.find_first_not_of(set) == std::string_view::npos;
}

// Its headers end with these two bytes. An archive of nothing is a line of text.
bool is_ar(std::string_view first) noexcept {
    return first.size() >= 68 && first.substr(66, 2) == "`\n";
}

// A header of digits, one number of which is the length of the name behind it, with its zero.
bool is_cpio(std::string_view first) noexcept {
    const bool octal = first[5] == '7';
    const std::size_t header = octal ? 76 : 110;
    if (first.size() < header) return false;
    std::size_t length = 0;
    const std::string_view field = octal ? first.substr(59, 6) : first.substr(94, 8);
    const auto [end, error] = std::from_chars(field.begin(), field.end(), length, octal ? 8 : 16);
    return error == std::errc() && end == field.end() && length > 0 &&
           first.find('\0') == header + length - 1 &&
           all_of(first.substr(0, header), octal ? "01234567" : "0123456789abcdefABCDEF");
}

bool is_cab(std::string_view first) noexcept {
    return first.size() >= 8 && number_at(first, 4, 4) == 0; // reserved
}

// It has no mark, so the same test as in xz: a dictionary of 2^n or 2^n + 2^(n-1) bytes, and an unpacked size that is not
// told or below 256 GiB. The first byte of the data is always 0.
bool is_lzma(std::string_view first) noexcept {
    if (first.size() < 14 || first[13] != '\0') return false;
    const std::uint64_t dictionary = number_at(first, 1, 4);
    const std::uint64_t unpacked = number_at(first, 5, 8);
    const int bits = std::popcount(dictionary);
    return dictionary >= 4096 && (bits == 1 || (bits == 2 && (dictionary & dictionary >> 1) != 0)) &&
           (unpacked == UINT64_MAX || unpacked < std::uint64_t{1} << 38);
}

bool is_tar(std::string_view first) noexcept {
    return first.size() >= 262 && first.substr(257, 5) == "ustar" &&
           first.substr(0, 257).find('\0') != std::string_view::npos;
}

// Before 1988 it had no mark, but zeros in its place. Its header holds the sum of its bytes in octal digits, added up with
// blanks in place of that sum, and ends with zeros.
bool is_old_tar(std::string_view first) noexcept {
    constexpr std::size_t sum_at = 148;
    constexpr std::size_t sum_bytes = 8;
    if (first.size() < look_bytes || first[0] == '\0') return false;
    if (!all_of(first.substr(257, 8), "\0"sv) || !all_of(first.substr(500), "\0"sv)) return false;
    std::uint64_t told = 0;
    for (const char digit : first.substr(sum_at, sum_bytes)) {
        if (digit >= '0' && digit <= '7')
            told = told * 8 + static_cast<std::uint64_t>(digit - '0');
        else if (digit != ' ' && digit != '\0')
            return false;
    }
    std::uint64_t sum = sum_bytes * ' ';
    for (std::size_t i = 0; i < look_bytes; ++i)
        if (i < sum_at || i >= sum_at + sum_bytes) sum += static_cast<unsigned char>(first[i]);
    return sum == told;
}

// Version 1, a number of keys, and a rate that makes sense.
bool is_dcso(std::string_view first) noexcept {
    if (first.size() < 24 || number_at(first, 0, 8) != 1) return false;
    double rate = 0;
    std::memcpy(&rate, first.data() + 16, sizeof rate);
    return rate > 0 && rate < 1;
}

// Its header as Thrift's compact protocol writes it: a number of bytes, then three unions with nothing in them.
bool is_parquet_filter(std::string_view first) noexcept {
    std::size_t at = 1;
    while (at < first.size() && at < 5 && (first[at] & 0x80) != 0) ++at;
    return first.substr(std::min(at + 1, first.size()))
        .starts_with("\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0"sv);
}

constexpr signature refused(std::string_view bytes, std::string_view name,
                            bool (*also)(std::string_view) noexcept = nullptr,
                            std::string_view hint = unpack_first, file_kind kind = file_kind::other) {
    return {bytes, name, unpacking::refused, hint, std::string_view::npos, also, kind};
}

constexpr std::array signatures{
    signature{"\x1f\x8b"sv, "a gzip file", unpacking::gzip, unpack_first},
    signature{"\x28\xb5\x2f\xfd"sv, "a zstd file", unpacking::zstd, unpack_first},
    // A frame to skip, 0x184D2A50 to 5F, as pzstd puts it in front.
    signature{"\x50\x2a\x4d\x18"sv, "a zstd or lz4 file", unpacking::skippable, unpack_first, 0},
    signature{"\xfd"
              "7zXZ\0"sv,
              "an xz file", unpacking::xz, unpack_first},
    // One digit is the level; then the digits of pi, or those of its root where nothing is in it.
    signature{"BZh01AY&SY"sv, "a bzip2 file", unpacking::bzip2, unpack_first, 3},
    signature{"BZh0\x17\x72\x45\x38\x50\x90"sv, "a bzip2 file", unpacking::bzip2, unpack_first, 3},
    signature{"\x04\x22\x4d\x18"sv, "an lz4 file", unpacking::lz4, unpack_first},
    refused("\x02\x21\x4c\x18"sv, "an lz4 file of the legacy format"),
    refused("\x1f\x9d"sv, "a compress (.Z) file"),
    refused("LZIP\x01"sv, "an lzip file"),
    refused("\x89LZO\0\r\n\x1a\n"sv, "an lzop file"),
    refused("\x5d"sv, "an lzma file", is_lzma),
    refused("\xff\x06\0\0sNaPpY"sv, "a snappy file"),
    refused("PK\x03\x04"sv, "a zip archive"),
    refused("PK\x05\x06"sv, "an empty zip archive"),
    refused("PK\x07\x08"sv, "a zip archive in parts"),
    refused("7z\xbc\xaf\x27\x1c"sv, "a 7z archive"),
    refused("Rar!\x1a\x07"sv, "a rar archive"),
    refused("MSCF\0"sv, "a cab archive", is_cab),
    refused("!<arch>\n"sv, "an ar archive", is_ar),
    refused("!<thin>\n"sv, "a thin ar archive", is_ar),
    refused("070701"sv, "a cpio archive", is_cpio),
    refused("070702"sv, "a cpio archive", is_cpio),
    refused("070707"sv, "a cpio archive", is_cpio),
    refused(our_mark, "a Bouncer filter", nullptr, keys_wanted),
    refused("\1"sv, dcso_filter_name, is_dcso, keys_wanted, file_kind::dcso_filter),
    refused("\x15"sv, parquet_filter_name, is_parquet_filter, keys_wanted, file_kind::parquet_filter),
    // The header of its first page or, of an empty file, of what it holds.
    refused("PAR1\x15"sv, "a Parquet file", nullptr, "write its keys as lines first"),
    refused({}, "a tar archive", is_tar),
    refused({}, "a tar archive", is_old_tar),
};

// As far as both go.
bool agrees(const signature& with, std::string_view first) noexcept {
    const std::size_t count = std::min(first.size(), with.bytes.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto differ = static_cast<unsigned char>(first[i] ^ with.bytes[i]);
        if ((i == with.any_low_half_at ? differ & 0xf0 : differ) != 0) return false;
    }
    return true;
}

bool is_text(std::string_view first) noexcept {
    return std::none_of(first.begin(), first.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 127 || (byte < ' ' && (byte < '\b' || byte > '\r') && byte != '\x1b');
    });
}

// The first bytes of a regular file; nothing of others.
std::string beginning_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    std::string out(look_bytes, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return out;
}

} // namespace

const signature* signature_of(std::string_view first) noexcept {
    first = first.substr(0, look_bytes);
    for (const signature& each : signatures)
        if (first.size() >= each.bytes.size() && agrees(each, first) &&
            (each.also == nullptr || each.also(first)))
            return &each;
    return nullptr;
}

bool may_become_signature(std::string_view first) noexcept {
    return std::any_of(signatures.begin(), signatures.end(), [&](const signature& each) {
        return first.size() < each.bytes.size() && agrees(each, first);
    });
}

bool may_become_tar(std::string_view first) noexcept {
    constexpr std::size_t name_bytes = 100; // filled up with zeros
    const std::size_t end = first.find('\0');
    return first.size() < look_bytes && end > 0 && end <= name_bytes &&
           all_of(first.substr(0, name_bytes).substr(std::min(end, name_bytes)), "\0"sv);
}

const signature* cut_signature_of(std::string_view all) noexcept {
    const bool ascii = std::none_of(all.begin(), all.end(), [](char c) { return (c & 0x80) != 0; });
    if (ascii && is_text(all)) return nullptr;
    const auto found = std::find_if(signatures.begin(), signatures.end(), [&](const signature& each) {
        return each.by != unpacking::refused && all.size() < each.bytes.size() && agrees(each, all);
    });
    return found == signatures.end() ? nullptr : &*found;
}

look look_of(const std::string& path) {
    const std::string first = beginning_of(path);
    if (first.empty()) return {};
    if (const signature* const found = signature_of(first)) return {found->kind, found->name};
    if (is_text(first)) return {file_kind::text, "text"};
    return {};
}

bool is_filter_file(const std::string& path) {
    return beginning_of(path).starts_with(our_mark);
}

} // namespace bouncer::tool
