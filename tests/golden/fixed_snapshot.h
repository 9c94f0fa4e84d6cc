// The bytes of a saved file with an id and a time of the caller's choice: save() draws both anew each time.
#pragma once

#include "format/envelope.h"

#include <bouncer/snapshot.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::test {

using bytes = std::vector<std::byte>;

struct stamp_of_file {
    std::array<std::byte, 16> id = {};
    std::int64_t created_seconds = 0;
};

template <class F>
bytes saved_bytes(const F& filter, const save_options& options) {
    bytes out;
    const byte_sink sink = [&](std::span<const std::byte> more) -> result<void> {
        out.insert(out.end(), more.begin(), more.end());
        return {};
    };
    save(filter, sink, options).value();
    return out;
}

inline detail::header_page header_of(std::span<const std::byte> file) {
    detail::header_page out;
    std::copy_n(file.begin(), out.size(), out.begin());
    return out;
}

// The chunks as stored: of a compressed file its frames.
inline std::vector<std::span<const std::byte>> stored_chunks(std::span<const std::byte> file,
                                                             const snapshot_info& info) {
    std::vector<std::span<const std::byte>> out;
    std::size_t at = detail::header_bytes;
    for (std::uint64_t i = 0; i < detail::chunk_count(info.payload_bytes); ++i) {
        std::size_t size = detail::bytes_of_chunk(info.payload_bytes, i);
        if (info.compressed) {
            size = 0;
            for (std::size_t byte = 0; byte < 4; ++byte)
                size |= std::to_integer<std::size_t>(file[at + byte]) << (8 * byte);
            at += 4;
        }
        out.push_back(file.subspan(at, size));
        at += size;
    }
    return out;
}

// What save() writes, but for header and footer, which are made once more for the given id and time.
template <class F>
bytes fixed_snapshot(const F& filter, const save_options& options, const stamp_of_file& stamp) {
    const bytes written = saved_bytes(filter, options);
    snapshot_info info = detail::decode_header(header_of(written)).value();
    info.id = stamp.id;
    info.created_seconds = stamp.created_seconds;
    const detail::header_page header = detail::encode_header(info);
    std::vector<std::uint64_t> checksums;
    for (const auto chunk : stored_chunks(written, info))
        checksums.push_back(detail::chunk_checksum(info, checksums.size(), chunk));
    const bytes footer = detail::encode_footer(header, checksums);

    bytes out = written;
    std::copy(header.begin(), header.end(), out.begin());
    std::copy(footer.begin(), footer.end(), out.end() - static_cast<std::ptrdiff_t>(footer.size()));
    return out;
}

inline bytes bytes_of(std::string_view text) {
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> content) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
}

// Gives the bytes a few at a time, as a pipe may.
inline byte_source source_of(std::span<const std::byte> from, std::size_t at_once) {
    return [from, at_once](std::span<std::byte> into) mutable -> result<std::size_t> {
        const std::size_t some = std::min({into.size(), from.size(), at_once});
        std::copy_n(from.begin(), some, into.begin());
        from = from.subspan(some);
        return some;
    };
}

} // namespace bouncer::test
