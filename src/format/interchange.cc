// import_file, import_bytes, export_file: one way for all formats, with what differs in a foreign_codec.
#include <bouncer/interchange.h>

#include "format/chunks.h"
#include "format/foreign.h"
#include "format/kinds.h"

#include <algorithm>
#include <bit>

namespace bouncer {

namespace detail {

namespace {

constexpr std::size_t label_most = 1024;

const foreign_codec& codec_of(foreign_format format) noexcept {
    return format == foreign_format::dcso ? dcso_codec : parquet_codec;
}

// Bytes that are left behind the words.
struct tail {
    std::string bytes; // the first label_most + 1 of them
    std::uint64_t count = 0;
};

result<std::size_t> read_up_to(const byte_source& source, std::span<std::byte> into) {
    std::size_t have = 0;
    while (have < into.size()) {
        auto got = source(into.subspan(have));
        if (!got) return got.error();
        if (*got == 0) break;
        have += *got;
    }
    return have;
}

failure too_short(std::uint64_t needed, std::uint64_t there) {
    return {error_code::corrupt, "its header promises " + std::to_string(needed) + " bytes of bits, and " +
                                     std::to_string(there) + " follow"};
}

result<tail> read_tail(const byte_source& source) {
    tail out;
    std::vector<std::byte> buffer(std::size_t{64} << 10);
    for (;;) {
        auto got = read_up_to(source, buffer);
        if (!got) return got.error();
        if (*got == 0) return out;
        const std::size_t room = label_most + 1 - out.bytes.size();
        out.bytes.append(reinterpret_cast<const char*>(buffer.data()), std::min(room, *got));
        out.count += *got;
    }
}

// What may be said of a file before anything is written: that it is whole, and what its label will be.
result<void> take_tail(const foreign_codec& codec, const tail& rest, const import_options& options,
                       snapshot_info& info) {
    if (rest.count == 0) return {};
    if (!codec.has_metadata)
        return failure{error_code::corrupt, "there are bytes behind the " +
                                                std::to_string(info.payload_bytes) + " of its bitset, " +
                                                std::to_string(rest.count)};
    if (rest.count <= label_most) {
        info.label = rest.bytes;
        return {};
    }
    if (options.drop_metadata) return {};
    return failure{error_code::too_large,
                   "it has " + std::to_string(rest.count) + " bytes of metadata, and a label holds " +
                       std::to_string(label_most) + "; it can be imported without them"};
}

// The second way through: `source` stands at the first word.
result<snapshot_info> write_snapshot(const foreign_codec& codec, snapshot_info info,
                                     const byte_source& source, const std::string& output,
                                     const file_promise& promised) {
    auto written = write_file(output, promised, [&](const byte_sink& sink) -> result<void> {
        auto writer = chunk_writer::begin(info, sink);
        if (!writer) return writer.error();
        info = writer->info();
        const std::uint64_t payload = info.payload_bytes;
        std::vector<std::uint64_t> chunk(bytes_of_chunk(payload, 0) / 8);
        for (std::uint64_t i = 0; i < chunk_count(payload); ++i) {
            const auto words = std::span(chunk).first(bytes_of_chunk(payload, i) / 8);
            const auto real = static_cast<std::size_t>(
                std::min<std::uint64_t>(words.size() * 8, payload - i * chunk_bytes));
            std::fill(words.begin(), words.end(), 0);
            auto got = read_up_to(source, std::as_writable_bytes(words).first(real));
            if (!got) return got.error();
            if (*got != real) return too_short(payload, i * chunk_bytes + *got);
            if (i + 1 == chunk_count(payload)) {
                swap_if_big(words);
                const std::uint64_t last = words[real / 8 - 1];
                swap_if_big(words);
                if ((last & ~codec.last_word(info)) != 0)
                    return failure{error_code::corrupt, "bits are set behind the last, in its last word"};
            }
            if (auto ok = writer->write(std::as_bytes(words)); !ok) return ok.error();
        }
        return writer->finish();
    });
    if (!written) return written.error();
    return info;
}

result<snapshot_info> read_foreign_header(const foreign_codec& codec, const byte_source& source) {
    auto info = codec.read_header(source);
    if (!info) return info.error();
    if (auto ok = check_known(*info); !ok) return ok.error();
    return info;
}

// The words of a snapshot, chunk by chunk.
template <class Use>
result<void> every_chunk(chunk_reader& reader, Use use) {
    const std::uint64_t payload = reader.info().payload_bytes;
    std::vector<std::uint64_t> chunk(bytes_of_chunk(payload, 0) / 8);
    for (std::uint64_t i = 0; i < chunk_count(payload); ++i) {
        const auto words = std::span(chunk).first(bytes_of_chunk(payload, i) / 8);
        if (auto ok = reader.read(std::as_writable_bytes(words)); !ok) return ok.error();
        const auto real =
            static_cast<std::size_t>(std::min<std::uint64_t>(words.size(), payload / 8 - i * chunk_words));
        if (auto ok = use(words.first(real)); !ok) return ok.error();
    }
    return reader.finish();
}

result<std::uint64_t> ones_of_file(const std::string& path) {
    auto reader = chunk_reader::open(path);
    if (!reader) return reader.error();
    std::uint64_t ones = 0;
    auto done = every_chunk(*reader, [&](std::span<const std::uint64_t> words) -> result<void> {
        for (const std::uint64_t word : words) ones += static_cast<std::uint64_t>(std::popcount(word));
        return {};
    });
    if (!done) return done.error();
    return ones;
}

} // namespace

result<void> read_whole(const byte_source& source, std::span<std::byte> into, std::string_view what) {
    auto got = read_up_to(source, into);
    if (!got) return got.error();
    if (*got == into.size()) return {};
    return failure{error_code::corrupt, "it ends within " + std::string(what)};
}

} // namespace detail

result<foreign_format> foreign_format_of(std::string_view name) {
    return detail::guarded([&]() -> result<foreign_format> {
        for (const auto format : {foreign_format::dcso, foreign_format::parquet_sbbf})
            if (name == name_of(format)) return format;
        return failure{error_code::unsupported,
                       "no format is called \"" + std::string(name) + "\"; there are dcso and parquet-sbbf"};
    });
}

std::string_view name_of(foreign_format format) noexcept {
    return detail::codec_of(format).name;
}

std::string_view kind_of(foreign_format format) noexcept {
    return detail::find_kind(detail::codec_of(format).kind)->name;
}

result<snapshot_info> import_file(foreign_format format, const std::string& input, const std::string& output,
                                  const import_options& options) {
    return detail::guarded([&]() -> result<snapshot_info> {
        using namespace detail;
        const foreign_codec& codec = codec_of(format);
        auto file = open_regular(input, false);
        if (!file) return file.error();
        auto size = size_of(*file, input);
        if (!size) return size.error();
        std::uint64_t offset = 0;
        const byte_source source = [&](std::span<std::byte> into) -> result<std::size_t> {
            auto got = read_some(*file, input, offset, into);
            if (got) offset += *got;
            return got;
        };
        auto info = read_foreign_header(codec, source);
        if (!info) return in_file(info.error(), input);
        const std::uint64_t first = offset;
        const std::uint64_t there = *size < first ? 0 : *size - first;
        if (there < info->payload_bytes) return in_file(too_short(info->payload_bytes, there), input);
        offset = first + info->payload_bytes; // no need to read what lies between
        auto rest = read_tail(source);
        if (!rest) return rest.error();
        if (auto ok = take_tail(codec, *rest, options, *info); !ok) return in_file(ok.error(), input);
        offset = first;
        auto done =
            write_snapshot(codec, std::move(*info), source, output,
                           {.durable = options.durable, .replace = options.replace, .lock = options.lock});
        if (!done && done.error().code == error_code::corrupt) return in_file(done.error(), input);
        return done;
    });
}

result<snapshot_info> import_bytes(foreign_format format, const source_opener& open,
                                   const std::string& output, const import_options& options) {
    return detail::guarded([&]() -> result<snapshot_info> {
        using namespace detail;
        if (!open) return failure{error_code::invalid_argument, "there is no source to import from"};
        const foreign_codec& codec = codec_of(format);
        auto source = open();
        if (!source) return source.error();
        auto info = read_foreign_header(codec, *source);
        if (!info) return info.error();
        std::vector<std::byte> buffer(
            static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, info->payload_bytes)));
        for (std::uint64_t done = 0; done < info->payload_bytes;) {
            const auto some =
                static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), info->payload_bytes - done));
            auto got = read_up_to(*source, std::span(buffer).first(some));
            if (!got) return got.error();
            done += *got;
            if (*got != some) return too_short(info->payload_bytes, done);
        }
        auto rest = read_tail(*source);
        if (!rest) return rest.error();
        if (auto ok = take_tail(codec, *rest, options, *info); !ok) return ok.error();
        source = open();
        if (!source) return source.error();
        auto again = read_foreign_header(codec, *source);
        if (!again) return again.error();
        if (again->fields != info->fields)
            return failure{error_code::io, "the input changed while it was read"};
        return write_snapshot(codec, std::move(*info), *source, output,
                              {.durable = options.durable, .replace = options.replace, .lock = options.lock});
    });
}

result<snapshot_info> export_file(foreign_format format, const std::string& input, const std::string& output,
                                  bool durable, bool replace, change_lock* lock) {
    return detail::guarded([&]() -> result<snapshot_info> {
        using namespace detail;
        const foreign_codec& codec = codec_of(format);
        auto reader = chunk_reader::open(input);
        if (!reader) return reader.error();
        if (auto ok = check_known(reader->info()); !ok) return in_file(ok.error(), input);
        const snapshot_info info = reader->info();
        if (info.kind != codec.kind)
            return failure{error_code::mismatch, input + ": it holds a " +
                                                     std::string(find_kind(info.kind)->name) + ", and " +
                                                     std::string(codec.name) + " is the format of a " +
                                                     std::string(find_kind(codec.kind)->name)};
        if (info.keys != key_form{}) // the other program would look for keys as they are
            return failure{error_code::unsupported, input + ": its keys are taken " + form_text(info.keys) +
                                                        ", which a file of " + std::string(codec.name) +
                                                        " cannot say"};
        snapshot_info told = info;
        const file_promise promised{.durable = durable, .replace = replace, .lock = lock};
        if (auto ok = codec.complete(told, [&] { return ones_of_file(input); }); !ok)
            return in_file(ok.error(), input);
        auto written = write_file(output, promised, [&](const byte_sink& sink) -> result<void> {
            if (auto ok = sink(codec.header_of(told)); !ok) return ok;
            auto done = every_chunk(*reader, [&](std::span<const std::uint64_t> words) {
                return sink(std::as_bytes(words)); // little-endian in both
            });
            if (!done) return in_file(done.error(), input);
            if (!codec.has_metadata || info.label.empty()) return {};
            return sink(std::as_bytes(std::span(info.label)));
        });
        if (!written) return written.error();
        return info;
    });
}

} // namespace bouncer
