// Stored filters as bytes: small ones of every kind, and headers that carry any content under a right checksum.
#pragma once

#include "format/envelope.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <bouncer/detail/hash_xxh.h>
#include <bouncer/snapshot.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::test {

// For a filter of about so many bytes, of any kind that can be shared.
inline goal goal_of_bytes(const kind& k, std::uint64_t bytes) {
    goal wanted{.keys = 1, .size_bytes = bytes};
    if (!k.is.fixed_size) wanted.false_positive_rate = 0.01;
    return wanted;
}

using byte_vector = std::vector<std::byte>;

// Offsets in the header that tests write through, as docs/format.md has them.
inline constexpr std::size_t version_at = 8, header_bytes_at = 12, flags_at = 20, algorithm_at = 24,
                             chunk_bytes_at = 28, field_count_at = 96, label_bytes_at = 100, fields_at = 104,
                             label_at = 3040, reserved_at = 4064, checksum_at = 4080, state_at = 4088;

inline subject small_filter(const kind& k, std::uint64_t stream = 1) {
    const auto hashes = random_hashes(40, stream);
    if (k.is.buildable) return k.build(hashes, {.false_positive_rate = 0.05}).value();
    if (k.is.built_exactly) return k.build_exactly(hashes, random_hashes(400, stream + 1)).value();
    subject out = k.create(goal{.keys = 40, .false_positive_rate = 0.05}).value();
    for (const std::uint64_t hash : hashes) out.add(hash);
    return out;
}

inline byte_vector bytes_of(const subject& filter, const save_options& options = {}) {
    byte_vector out;
    const byte_sink sink = [&](std::span<const std::byte> bytes) -> result<void> {
        out.insert(out.end(), bytes.begin(), bytes.end());
        return {};
    };
    save(filter, sink, options).value();
    return out;
}

inline snapshot_info info_of(const byte_vector& bytes) {
    return detail::decode_header(std::span(bytes).first<detail::header_bytes>()).value();
}

inline void put_number(byte_vector& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

// The checksum of a header that was written into.
inline void mend_header(byte_vector& bytes) {
    put_number(bytes, checksum_at, detail::xxh3_bytes(bytes.data(), checksum_at, 0), 8);
}

// A footer for header and payload as they are. `payload` has the padding with it.
inline byte_vector footer_over(const byte_vector& bytes, const snapshot_info& info,
                               std::span<const std::byte> payload) {
    std::vector<std::uint64_t> checksums;
    for (std::size_t i = 0, at = 0; at < payload.size(); ++i, at += detail::chunk_bytes)
        checksums.push_back(detail::chunk_checksum(
            info, i, payload.subspan(at, std::min(detail::chunk_bytes, payload.size() - at))));
    detail::header_page page;
    std::copy_n(bytes.begin(), page.size(), page.begin());
    return detail::encode_footer(page, checksums);
}

// The same payload behind another header, with checksums that are right: the header is the only thing wrong.
inline byte_vector with_header(const byte_vector& bytes, const snapshot_info& info) {
    const std::uint64_t payload = detail::padded_bytes(info_of(bytes).payload_bytes);
    const detail::header_page page = detail::encode_header(info);
    byte_vector out(page.begin(), page.end());
    out.insert(out.end(), bytes.begin() + detail::header_bytes,
               bytes.begin() + static_cast<std::ptrdiff_t>(detail::header_bytes + payload));
    const byte_vector footer = footer_over(out, info, std::span(out).subspan(detail::header_bytes));
    out.insert(out.end(), footer.begin(), footer.end());
    return out;
}

// `width` bytes of the header replaced, and all checksums made right again.
inline byte_vector with_number(const byte_vector& bytes, std::size_t at, std::uint64_t value,
                               std::size_t width) {
    const snapshot_info info = info_of(bytes);
    const auto payload = static_cast<std::size_t>(detail::padded_bytes(info.payload_bytes));
    byte_vector out = bytes;
    put_number(out, at, value, width);
    mend_header(out);
    out.resize(detail::header_bytes + payload);
    const byte_vector footer = footer_over(out, info, std::span(out).subspan(detail::header_bytes));
    out.insert(out.end(), footer.begin(), footer.end());
    return out;
}

// Gives the bytes in pieces of at most `piece`, and counts what it gave.
class byte_supply {
  public:
    explicit byte_supply(std::span<const std::byte> bytes, std::size_t piece = SIZE_MAX)
        : bytes_(bytes), piece_(piece) {}

    byte_source source() {
        return [this](std::span<std::byte> into) -> result<std::size_t> {
            const std::size_t some = std::min({into.size(), piece_, bytes_.size() - given_});
            std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(given_), some, into.begin());
            given_ += some;
            return some;
        };
    }
    std::size_t given() const { return given_; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t piece_;
    std::size_t given_ = 0;
};

} // namespace bouncer::test
