#include "format/envelope.h"

#include "format/little_endian.h"

#include <bouncer/all_hashers.h>
#include <bouncer/detail/format.h>
#include <bouncer/detail/hash_xxh.h>

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace bouncer::detail {

namespace {

// The high bit, the line ends and the 0x1a show what mail, FTP in text mode or `type` would do to the file.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'B', 'N', 'C', '\r', '\n', 0x1a, '\n'};
constexpr std::uint64_t footer_magic = 0x646e6520636e4289u; // 0x89 "Bnc end"
constexpr std::uint32_t known_version = 1;
constexpr std::uint32_t flag_compressed = 1;
constexpr std::uint32_t flag_hex = 2;
constexpr std::uint32_t flag_fold_case = 4;
constexpr std::uint32_t flag_window = 8;
constexpr std::uint32_t flags_known = flag_compressed | flag_hex | flag_fold_case | flag_window;

// Offsets in the header.
constexpr std::size_t version_at = 8, header_bytes_at = 12, kind_at = 16, layout_at = 18, flags_at = 20,
                      algorithm_at = 24, chunk_bytes_at = 28, seed_at = 32, payload_at = 40, designed_at = 48,
                      added_at = 56, rate_at = 64, created_at = 72, id_at = 80, field_count_at = 96,
                      label_bytes_at = 100, fields_at = 104, label_at = 3040, window_at = 4064,
                      reserved_at = 4072, checksum_at = 4080;
constexpr std::size_t label_most = 1024;
constexpr std::size_t fields_most = (label_at - fields_at) / 8;
static_assert(label_at + label_most <= window_at);

failure corrupt(std::string why) {
    return {error_code::corrupt, std::move(why)};
}

std::uint64_t checksum_of_header(const std::byte* page) noexcept {
    return xxh3_bytes(page, checksum_at, 0);
}

} // namespace

std::string form_text(const key_form& keys) {
    if (keys.hex && keys.fold_case) return "decoded from hexadecimal, A to Z folded to a to z";
    if (keys.hex) return "decoded from hexadecimal";
    return keys.fold_case ? "with A to Z folded to a to z" : "as they are";
}

failure formed_keys(const snapshot_info& info) {
    return {error_code::mismatch,
            "its keys were taken " + form_text(info.keys) +
                ", so others would not be found: open it without keys, and hash them likewise"};
}

header_page encode_header(const snapshot_info& info) {
    header_page page{};
    std::memcpy(page.data(), magic.data(), magic.size());
    put(&page[version_at], known_version);
    put(&page[header_bytes_at], static_cast<std::uint32_t>(header_bytes));
    put(&page[kind_at], info.kind);
    put(&page[layout_at], info.layout_version);
    put(&page[flags_at], (info.compressed ? flag_compressed : 0u) | (info.keys.hex ? flag_hex : 0u) |
                             (info.keys.fold_case ? flag_fold_case : 0u) |
                             (info.window.count() != 0 ? flag_window : 0u));
    put(&page[algorithm_at], info.hash.algorithm);
    put(&page[chunk_bytes_at], static_cast<std::uint32_t>(chunk_bytes));
    put(&page[seed_at], info.hash.seed_or_fingerprint);
    put(&page[payload_at], info.payload_bytes);
    put(&page[designed_at], info.keys_designed);
    put(&page[added_at], info.keys_added);
    put(&page[rate_at], std::bit_cast<std::uint64_t>(info.fpr_promised));
    put(&page[created_at], static_cast<std::uint64_t>(info.created_seconds));
    std::memcpy(&page[id_at], info.id.data(), info.id.size());
    put(&page[field_count_at], static_cast<std::uint32_t>(info.fields.size()));
    put(&page[label_bytes_at], static_cast<std::uint32_t>(info.label.size()));
    for (std::size_t i = 0; i < info.fields.size(); ++i) put(&page[fields_at + 8 * i], info.fields[i]);
    if (!info.label.empty()) std::memcpy(&page[label_at], info.label.data(), info.label.size());
    put(&page[window_at], static_cast<std::uint64_t>(info.window.count()));
    put(&page[checksum_at], checksum_of_header(page.data()));
    put(&page[state_offset], info.state == file_state::sealed ? state_sealed : state_live);
    return page;
}

result<snapshot_info> decode_header(std::span<const std::byte, header_bytes> page) {
    const std::byte* const at = page.data();
    if (std::memcmp(at, magic.data(), magic.size()) != 0)
        return corrupt("not a bouncer file: it begins otherwise");
    const auto version = get<std::uint32_t>(at + version_at);
    const auto stored = get<std::uint64_t>(at + checksum_at);
    const std::uint64_t computed = checksum_of_header(at);
    if (version != known_version && stored == computed)
        return failure{error_code::unknown_version, "format version " + std::to_string(version) +
                                                        "; this library knows version " +
                                                        std::to_string(known_version)};
    if (stored != computed)
        return corrupt("header checksum is " + hex_text(computed) + ", and " + hex_text(stored) +
                       " is stored");
    if (get<std::uint32_t>(at + header_bytes_at) != header_bytes ||
        get<std::uint32_t>(at + chunk_bytes_at) != chunk_bytes)
        return corrupt("header: sizes of header and chunks are not those of version 1");
    const auto flags = get<std::uint32_t>(at + flags_at);
    if ((flags & ~flags_known) != 0)
        return failure{error_code::unknown_version,
                       "header: flags " + hex_text(flags) + "; this library knows " + hex_text(flags_known)};

    snapshot_info info;
    info.format_version = version;
    info.kind = get<std::uint16_t>(at + kind_at);
    info.layout_version = get<std::uint16_t>(at + layout_at);
    info.compressed = (flags & flag_compressed) != 0;
    info.keys = {.hex = (flags & flag_hex) != 0, .fold_case = (flags & flag_fold_case) != 0};
    info.hash = {get<std::uint32_t>(at + algorithm_at), get<std::uint64_t>(at + seed_at)};
    info.payload_bytes = get<std::uint64_t>(at + payload_at);
    info.keys_designed = get<std::uint64_t>(at + designed_at);
    info.keys_added = get<std::uint64_t>(at + added_at);
    info.fpr_promised = std::bit_cast<double>(get<std::uint64_t>(at + rate_at));
    info.created_seconds = get<std::int64_t>(at + created_at);
    std::memcpy(info.id.data(), at + id_at, info.id.size());
    const auto field_count = get<std::uint32_t>(at + field_count_at);
    const auto label_bytes = get<std::uint32_t>(at + label_bytes_at);
    if (field_count > fields_most) return corrupt("header: " + std::to_string(field_count) + " fields");
    if (label_bytes > label_most)
        return corrupt("header: a label of " + std::to_string(label_bytes) + " bytes");
    for (std::size_t i = 0; i < field_count; ++i)
        info.fields.push_back(get<std::uint64_t>(at + fields_at + 8 * i));
    info.label.assign(reinterpret_cast<const char*>(at + label_at), label_bytes);
    const auto is_zero = [&](std::size_t from, std::size_t to) {
        return std::all_of(at + from, at + to, [](std::byte byte) { return byte == std::byte{0}; });
    };
    if (!is_zero(fields_at + 8 * std::size_t{field_count}, label_at) ||
        !is_zero(label_at + label_bytes, (flags & flag_window) != 0 ? window_at : reserved_at) ||
        !is_zero(reserved_at, checksum_at))
        return corrupt("header: reserved bytes are not zero");
    info.window = std::chrono::nanoseconds(get<std::int64_t>(at + window_at));
    if ((flags & flag_window) != 0 && info.window.count() <= 0)
        return corrupt("header: a window of " + std::to_string(info.window.count()) + " ns");
    if (info.payload_bytes == 0 || info.payload_bytes % 8 != 0 ||
        info.payload_bytes > (std::uint64_t{1} << 62))
        return corrupt("header: a payload of " + std::to_string(info.payload_bytes) + " bytes");
    if (!(info.fpr_promised >= 0 && info.fpr_promised < 1))
        return corrupt("header: a promised rate that is none");

    const auto state = get<std::uint64_t>(at + state_offset);
    if (state != state_sealed && state != state_live)
        return corrupt("state word is " + hex_text(state) + ", neither sealed nor live");
    info.state = state == state_sealed ? file_state::sealed : file_state::live;
    if (info.compressed && info.state == file_state::live) return corrupt("a compressed file cannot be live");
    return info;
}

result<void> check_stored_hash(const hash_spec& spec) {
    auto known = check_known_hash(spec);
    if (known) return {};
    // A seed where there is none is damage; an unknown algorithm is news.
    if (find_hash(spec.algorithm)) return corrupt("header: " + known.error().message);
    const std::uint32_t last = std::ranges::max(all_hashes, {}, &hash_info::id).id;
    return failure{error_code::unknown_version, "header: " + known.error().message +
                                                    "; this library knows ids 0 to " + std::to_string(last) +
                                                    " and users' own from " + hex_text(first_user_hash_id)};
}

result<void> check_against(const snapshot_info& info, std::uint16_t kind, std::uint16_t layout_version,
                           const result<std::uint64_t>& words_of_fields) {
    if (info.layout_version != layout_version)
        return failure{error_code::unknown_version, "layout version " + std::to_string(info.layout_version) +
                                                        " of kind " + std::to_string(kind) +
                                                        "; this library knows version " +
                                                        std::to_string(layout_version)};
    if (auto ok = check_stored_hash(info.hash); !ok) return ok.error();
    if (!words_of_fields) {
        const failure& why = words_of_fields.error();
        if (why.code == error_code::unknown_version) return failure{why.code, "header: " + why.message};
        return corrupt("header: " + why.message);
    }
    if (*words_of_fields * 8 != info.payload_bytes)
        return corrupt("header: a payload of " + std::to_string(info.payload_bytes) +
                       " bytes, where the parameters need " + std::to_string(*words_of_fields * 8));
    return {};
}

std::uint64_t chunk_checksum(const snapshot_info& info, std::uint64_t index,
                             std::span<const std::byte> chunk) noexcept {
    std::array<std::byte, 24> place;
    std::memcpy(place.data(), info.id.data(), info.id.size());
    put(&place[16], index);
    return xxh3_bytes(chunk.data(), chunk.size(), xxh3_bytes(place.data(), place.size(), 0));
}

namespace {

std::uint64_t checksum_of_all(const std::byte* header, std::span<const std::byte> footer_before) noexcept {
    // One over both: the header's as the seed of the footer's.
    return xxh3_bytes(footer_before.data(), footer_before.size(), xxh3_bytes(header, checksum_at + 8, 0));
}

} // namespace

std::vector<std::byte> encode_footer(const header_page& header, std::span<const std::uint64_t> checksums) {
    std::vector<std::byte> footer(8 * checksums.size() + 16);
    for (std::size_t i = 0; i < checksums.size(); ++i) put(&footer[8 * i], checksums[i]);
    const std::size_t magic_at = 8 * checksums.size();
    put(&footer[magic_at], footer_magic);
    put(&footer[magic_at + 8], checksum_of_all(header.data(), std::span(footer).first(magic_at + 8)));
    return footer;
}

result<std::vector<std::uint64_t>> decode_footer(std::span<const std::byte, header_bytes> header,
                                                 std::span<const std::byte> footer) {
    const std::size_t count = footer.size() / 8 - 2;
    const auto stored = get<std::uint64_t>(&footer[8 * count + 8]);
    const std::uint64_t computed = checksum_of_all(header.data(), footer.first(8 * count + 8));
    if (get<std::uint64_t>(&footer[8 * count]) != footer_magic) return corrupt("footer: its mark is missing");
    if (stored != computed)
        return corrupt("footer checksum is " + hex_text(computed) + ", and " + hex_text(stored) +
                       " is stored");
    std::vector<std::uint64_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = get<std::uint64_t>(&footer[8 * i]);
    return out;
}

result<void> stamp(snapshot_info& info) {
    info.created_seconds = static_cast<std::int64_t>(std::time(nullptr));
    std::size_t have = 0;
    while (have < info.id.size()) {
        const ssize_t got = ::getrandom(info.id.data() + have, info.id.size() - have, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return failure{error_code::io, "the system gives no random bytes for a file id"};
        have += static_cast<std::size_t>(got);
    }
    return {};
}

} // namespace bouncer::detail
