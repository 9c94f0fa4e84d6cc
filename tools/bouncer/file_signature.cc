#include "file_signature.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

namespace bouncer::tool {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view our_mark = "\x89"
                                      "BNC\r\n\x1a\n"sv;

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
    signature{"\x02\x21\x4c\x18"sv, "an lz4 file of the legacy format", unpacking::refused, unpack_first},
    signature{"\x1f\x9d"sv, "a compress (.Z) file", unpacking::refused, unpack_first},
    signature{"LZIP\x01"sv, "an lzip file", unpacking::refused, unpack_first},
    signature{"PK\x03\x04"sv, "a zip archive", unpacking::refused, unpack_first},
    signature{"PK\x05\x06"sv, "an empty zip archive", unpacking::refused, unpack_first},
    signature{"PK\x07\x08"sv, "a zip archive in parts", unpacking::refused, unpack_first},
    signature{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", unpacking::refused, unpack_first},
    signature{"Rar!\x1a\x07"sv, "a rar archive", unpacking::refused, unpack_first},
    signature{our_mark, "a Bouncer filter", unpacking::refused, "keys are wanted here"},
};
static_assert(std::all_of(signatures.begin(), signatures.end(),
                          [](const signature& each) { return each.bytes.size() <= signature_most; }));

// As far as both go.
bool agrees(const signature& with, std::string_view first) noexcept {
    const std::size_t count = std::min(first.size(), with.bytes.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto differ = static_cast<unsigned char>(first[i] ^ with.bytes[i]);
        if ((i == with.any_low_half_at ? differ & 0xf0 : differ) != 0) return false;
    }
    return true;
}

// Version 1, and then a number of keys and a rate that make sense.
bool is_dcso(std::string_view first) noexcept {
    if (first.size() < 24 || first.substr(0, 8) != "\1\0\0\0\0\0\0\0"sv) return false;
    double rate = 0;
    std::memcpy(&rate, first.data() + 16, sizeof rate);
    return rate > 0 && rate < 1;
}

// Its header as Thrift's compact protocol writes it: a number of bytes, then three unions with nothing in them.
bool is_parquet_filter(std::string_view first) noexcept {
    if (first.empty() || first[0] != '\x15') return false;
    std::size_t at = 1;
    while (at < first.size() && at < 5 && (first[at] & 0x80) != 0) ++at;
    return first.substr(std::min(at + 1, first.size()))
        .starts_with("\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0"sv);
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
    std::string out(512, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(out.data(), static_cast<std::streamsize>(out.size()));
    out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return out;
}

} // namespace

const signature* signature_of(std::string_view first) noexcept {
    for (const signature& each : signatures)
        if (first.size() >= each.bytes.size() && agrees(each, first)) return &each;
    return nullptr;
}

bool may_become_signature(std::string_view first) noexcept {
    return std::any_of(signatures.begin(), signatures.end(), [&](const signature& each) {
        return first.size() < each.bytes.size() && agrees(each, first);
    });
}

bool is_tar(std::string_view first) noexcept {
    return first.size() >= tar_mark_end && first.substr(257, 5) == "ustar" &&
           first.substr(0, 257).find('\0') != std::string_view::npos;
}

std::string look_of(const std::string& path) {
    const std::string first = beginning_of(path);
    if (first.empty()) return {};
    if (const signature* const found = signature_of(first)) return std::string(found->name);
    if (is_tar(first)) return "a tar archive";
    if (first.starts_with("PAR1")) return "a Parquet file";
    if (is_dcso(first)) return std::string(dcso_look);
    if (is_parquet_filter(first)) return std::string(parquet_filter_look);
    return is_text(first) ? std::string(text_look) : "";
}

bool is_filter_file(const std::string& path) {
    return beginning_of(path).starts_with(our_mark);
}

} // namespace bouncer::tool
