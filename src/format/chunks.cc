#include "format/chunks.h"

#include "format/little_endian.h"

#include <bouncer/detail/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace bouncer::detail {

chunk_writer::chunk_writer(snapshot_info info, const byte_sink& sink)
    : info_(std::move(info)), sink_(&sink), header_(encode_header(info_)) {
    if (info_.compressed) compressor_.emplace();
}

result<chunk_writer> chunk_writer::begin(snapshot_info info, const byte_sink& sink) {
    if (info.compressed) {
        if (auto ok = check_compression(); !ok) return ok.error();
    }
    info.state = file_state::sealed;
    if (auto ok = stamp(info); !ok) return ok.error();
    chunk_writer out(std::move(info), sink);
    if (auto ok = sink(out.header_); !ok) return ok.error();
    return out;
}

result<void> chunk_writer::write(std::span<const std::byte> chunk) {
    const auto stored = [&](std::span<const std::byte> bytes) {
        checksums_.push_back(chunk_checksum(info_, checksums_.size(), bytes));
        return (*sink_)(bytes);
    };
    if (!compressor_) return stored(chunk);
    auto small = compressor_->compress(chunk);
    if (!small) return small.error();
    std::array<std::byte, 4> length;
    put(length.data(), static_cast<std::uint32_t>(small->size()));
    if (auto ok = (*sink_)(length); !ok) return ok.error();
    return stored(*small);
}

result<void> chunk_writer::finish() {
    return (*sink_)(encode_footer(header_, checksums_));
}

namespace {

failure gave_too_much() {
    return {error_code::io, "the source says that it gave more bytes than it was asked for"};
}
failure truncated(const char* what) {
    return {error_code::corrupt, std::string("it ends within ") + what};
}

} // namespace

result<void> chunk_reader::fill(std::span<std::byte> into, const char* what) {
    if (source_ == nullptr) {
        auto got = read_some(file_, path_, offset_, into);
        if (!got) return got.error();
        offset_ += *got;
        if (*got != into.size()) return truncated(what);
        return {};
    }
    while (!into.empty()) {
        auto got = (*source_)(into);
        if (!got) return got.error();
        if (*got == 0) return truncated(what);
        if (*got > into.size()) return gave_too_much();
        into = into.subspan(*got);
    }
    return {};
}

result<void> chunk_reader::read_header() {
    if (auto ok = fill(header_, "the header"); !ok) return ok.error();
    auto info = decode_header(header_);
    if (!info) return info.error();
    info_ = std::move(*info);
    if (info_.compressed) return check_compression();
    return {};
}

result<chunk_reader> chunk_reader::open(const std::string& path) {
    auto file = open_regular(path, false);
    if (!file) return file.error();
    return open(path, std::move(*file));
}

result<chunk_reader> chunk_reader::open(const std::string& path, descriptor file) {
    chunk_reader out;
    out.path_ = path;
    out.file_ = std::move(file);
    auto size = size_of(out.file_, path);
    if (!size) return size.error();
    out.file_bytes_ = *size;
    const auto named = [&](const failure& why) {
        return why.code == error_code::io ? why : failure{why.code, path + ": " + why.message};
    };
    if (*size == 0) return named({error_code::corrupt, "the file is empty"});
    if (auto ok = out.read_header(); !ok) return named(ok.error());
    if (auto ok = out.read_footer_of_file(); !ok) return named(ok.error());
    return out;
}

namespace {

bool is_live_now(const descriptor& file, const std::string& path) {
    header_page page;
    auto got = read_some(file, path, 0, page);
    if (!got || *got != page.size()) return false;
    auto info = decode_header(page);
    return info && info->state == file_state::live;
}

} // namespace

result<std::vector<std::byte>> chunk_reader::footer_now() {
    std::vector<std::byte> bytes(static_cast<std::size_t>(footer_bytes(info_.payload_bytes)));
    auto got = read_some(file_, path_, file_bytes_ - bytes.size(), bytes);
    if (!got) return got.error();
    if (*got != bytes.size()) return truncated("the footer");
    return bytes;
}

// A process that opens the file, adds and seals it again makes what was read before it no match for what is read after.
failure chunk_reader::unless_changed(failure why) {
    const auto now = footer_now();
    if (!now || *now == footer_) return why;
    return {error_code::io, path_ + " was changed while it was read"};
}

result<void> chunk_reader::read_footer_of_file() {
    const std::uint64_t footer = footer_bytes(info_.payload_bytes);
    if (!info_.compressed && file_bytes_ != file_bytes(info_.payload_bytes))
        return failure{error_code::corrupt, "it has " + std::to_string(file_bytes_) +
                                                " bytes, where the header promises " +
                                                std::to_string(file_bytes(info_.payload_bytes))};
    // A compressed chunk has at least its length and one byte, so the size of the file bounds what is allocated here.
    if (info_.compressed && (file_bytes_ < header_bytes + footer ||
                             file_bytes_ - header_bytes - footer < 5 * chunk_count(info_.payload_bytes)))
        return failure{error_code::corrupt,
                       "it has " + std::to_string(file_bytes_) + " bytes, fewer than the header promises"};
    if (info_.state == file_state::live)
        return {}; // its footer may be older than its payload, or half written
    auto bytes = footer_now();
    if (!bytes) return bytes.error();
    footer_ = std::move(*bytes);
    auto checksums = decode_footer(header_, footer_);
    if (!checksums) {
        if (is_live_now(file_, path_)) {
            info_.state = file_state::live;
            return {};
        }
        return unless_changed(checksums.error());
    }
    checksums_ = std::move(*checksums);
    footer_known_ = true;
    return {};
}

result<chunk_reader> chunk_reader::begin(const byte_source& source) {
    chunk_reader out;
    out.source_ = &source;
    if (auto ok = out.read_header(); !ok) return ok.error();
    if (out.info_.state == file_state::live)
        return failure{error_code::corrupt, "a stream says that it is live, which only a file can be"};
    return out;
}

result<void> chunk_reader::check_chunk(std::uint64_t index, std::span<const std::byte> chunk) {
    if (info_.state == file_state::live) return {};
    const std::uint64_t computed = chunk_checksum(info_, index, chunk);
    if (!footer_known_) {
        checksums_.push_back(computed);
        return {};
    }
    if (checksums_[index] == computed) return {};
    // open_shared may have come between header and chunk: then the file is not damaged, and has no checksums any more.
    if (source_ == nullptr && is_live_now(file_, path_)) {
        info_.state = file_state::live;
        return {};
    }
    return unless_changed({error_code::corrupt, "payload checksum of chunk " + std::to_string(index) +
                                                    " (bytes " + std::to_string(index * chunk_bytes) +
                                                    " and on) is " + hex_text(computed) + ", and " +
                                                    hex_text(checksums_[index]) + " is stored"});
}

result<void> chunk_reader::read(std::span<std::byte> into) {
    if (!info_.compressed) {
        if (auto ok = fill(into, "the payload"); !ok) return ok.error();
    } else {
        std::array<std::byte, 4> length;
        if (auto ok = fill(length, "the payload"); !ok) return ok.error();
        const std::size_t size = get<std::uint32_t>(length.data());
        if (size > compressed_most(chunk_bytes))
            return failure{error_code::corrupt, "a compressed chunk of " + std::to_string(size) + " bytes"};
        compressed_.resize(size);
        if (auto ok = fill(compressed_, "the payload"); !ok) return ok.error();
    }
    // Of a file nothing is decompressed that the checksums do not vouch for.
    if (auto ok = check_chunk(next_, info_.compressed ? std::span<const std::byte>(compressed_) : into); !ok)
        return ok.error();
    if (info_.compressed) {
        if (!decompressor_) decompressor_.emplace();
        if (auto ok = decompressor_->decompress(compressed_, into); !ok) return ok.error();
    }
    return check_padding(next_++, into);
}

result<void> chunk_reader::check_padding(std::uint64_t index, std::span<const std::byte> chunk) const {
    const std::uint64_t payload = info_.payload_bytes - index * chunk_bytes;
    if (payload >= chunk.size()) return {};
    const auto padding = chunk.subspan(static_cast<std::size_t>(payload));
    if (std::all_of(padding.begin(), padding.end(), [](std::byte byte) { return byte == std::byte{0}; }))
        return {};
    return failure{error_code::corrupt, "the padding after the payload is not zero"};
}

result<void> chunk_reader::check_all() {
    if (info_.state == file_state::live) return {};
    std::vector<std::byte> chunk(bytes_of_chunk(info_.payload_bytes, 0));
    for (std::uint64_t i = 0; i < chunk_count(info_.payload_bytes); ++i)
        if (auto ok = read(std::span(chunk).first(bytes_of_chunk(info_.payload_bytes, i))); !ok)
            return ok.error();
    return finish();
}

result<void> chunk_reader::finish() {
    if (source_ == nullptr) {
        const std::uint64_t expected = file_bytes_ - footer_bytes(info_.payload_bytes);
        if (offset_ > expected) return failure{error_code::corrupt, "the payload runs into the footer"};
        if (offset_ < expected)
            return failure{error_code::corrupt,
                           std::to_string(expected - offset_) +
                               " bytes between the payload and the footer belong to neither"};
        return {};
    }
    std::vector<std::byte> footer(static_cast<std::size_t>(footer_bytes(info_.payload_bytes)));
    if (auto ok = fill(footer, "the footer"); !ok) return ok.error();
    auto stored = decode_footer(header_, footer);
    if (!stored) return stored.error();
    const std::vector<std::uint64_t> computed = std::exchange(checksums_, std::move(*stored));
    for (std::uint64_t i = 0; i < computed.size(); ++i)
        if (computed[i] != checksums_[i])
            return failure{error_code::corrupt, "payload checksum of chunk " + std::to_string(i) + " is " +
                                                    hex_text(computed[i]) + ", and " +
                                                    hex_text(checksums_[i]) + " is stored"};
    return {};
}

result<void> chunk_reader::resume() {
    auto file = open_regular(path_, false);
    if (!file) return file.error();
    file_ = std::move(*file);
    header_page now;
    auto got = read_some(file_, path_, 0, now);
    if (!got) return got.error();
    // All but the state word, which open_shared may have changed meanwhile.
    if (*got != now.size() || std::memcmp(now.data(), header_.data(), state_offset) != 0)
        return failure{error_code::io, path_ + " was replaced while it was read"};
    return {};
}

} // namespace bouncer::detail
