// save, load, inspect, verify.
#include <bouncer/snapshot.h>

#include "format/chunks.h"
#include "format/kinds.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace bouncer {

namespace detail {

namespace {

// A private copy, made with one load of each word: what is checked is what is written, whoever adds meanwhile.
void copy_words(std::uint64_t* to, const stored_segment& from, std::uint64_t first,
                std::size_t count) noexcept {
    const std::uint64_t* const words = from.words + first;
    if (!from.shared) {
        std::memcpy(to, words, count * sizeof *to);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
}

// Segments as one run of words, handed out piece by piece.
class segment_cursor {
  public:
    explicit segment_cursor(const std::vector<stored_segment>& segments) noexcept : segments_(&segments) {}

    // As many words as there are, at most into.size().
    std::size_t take(std::span<std::uint64_t> into) noexcept {
        std::size_t have = 0;
        while (have < into.size() && which_ < segments_->size()) {
            const stored_segment& from = (*segments_)[which_];
            const auto some =
                static_cast<std::size_t>(std::min<std::uint64_t>(from.count - done_, into.size() - have));
            copy_words(into.data() + have, from, done_, some);
            have += some;
            done_ += some;
            if (done_ == from.count) {
                ++which_;
                done_ = 0;
            }
        }
        return have;
    }

  private:
    const std::vector<stored_segment>* segments_;
    std::size_t which_ = 0;
    std::uint64_t done_ = 0;
};

result<snapshot_info> info_of(const stored_form& form, const save_options& options) {
    if (auto ok = check_options(options); !ok) return ok.error();
    snapshot_info info;
    info.kind = form.kind;
    info.layout_version = form.layout_version;
    info.hash = form.hash;
    info.fields = form.fields;
    for (const stored_segment& each : form.segments) info.payload_bytes += each.count * 8;
    take_options(info, options);
    info.keys = options.keys;
    info.window = options.window;
    if (auto ok = check_window(info); !ok) return ok.error();
    return info;
}

std::span<std::byte> bytes_of(std::span<std::uint64_t> words) noexcept {
    return std::as_writable_bytes(words);
}

} // namespace

result<void> check_options(const save_options& options) {
    if (options.label.size() > 1024)
        return failure{error_code::invalid_argument, "a label has at most 1024 bytes, and this one " +
                                                         std::to_string(options.label.size())};
    if (!(options.fpr_promised >= 0) || !(options.fpr_promised < 1))
        return failure{error_code::invalid_argument, "the promised rate must be at least 0 and below 1"};
    return {};
}

void take_options(snapshot_info& info, const save_options& options) {
    info.label = options.label;
    info.keys_designed = options.keys_designed;
    info.keys_added = options.keys_added;
    info.fpr_promised = options.fpr_promised;
    info.compressed = options.compress;
}

result<void> save_form(const stored_form& form, const byte_sink& sink, const save_options& options) {
    if (!sink) return failure{error_code::invalid_argument, "there is no sink to save to"};
    auto info = info_of(form, options);
    if (!info) return info.error();
    const std::uint64_t payload = info->payload_bytes;
    auto writer = chunk_writer::begin(std::move(*info), sink);
    if (!writer) return writer.error();
    std::vector<std::uint64_t> chunk(
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_words, padded_bytes(payload) / 8)));
    segment_cursor cursor(form.segments);
    for (std::uint64_t i = 0; i < chunk_count(payload); ++i) {
        const auto words = std::span(chunk).first(bytes_of_chunk(payload, i) / 8);
        const std::size_t have = cursor.take(words);
        std::fill(words.begin() + static_cast<std::ptrdiff_t>(have), words.end(), 0);
        swap_if_big(words);
        if (auto ok = writer->write(bytes_of(words)); !ok) return ok.error();
    }
    return writer->finish();
}

result<void> save_form(const stored_form& form, const std::string& path, const save_options& options) {
    return write_file(path, {.durable = options.durable, .replace = options.replace, .lock = options.lock},
                      [&](const byte_sink& sink) { return save_form(form, sink, options); });
}

result<output_lock> output_lock::take(const std::string& output, std::span<const std::string> inputs,
                                      const save_options& options) {
    output_lock out;
    out.callers_ = options.lock;
    if (options.lock != nullptr && *options.lock) return out;
    std::error_code not_there;
    const auto is_output = [&](const std::string& input) {
        return std::filesystem::equivalent(input, output, not_there);
    };
    if (!options.replace || std::none_of(inputs.begin(), inputs.end(), is_output)) return out;
    auto taken = change_lock::try_take(output);
    if (!taken) return taken.error();
    out.own_ = std::move(*taken);
    return out;
}

result<void> write_file(const std::string& path, const file_promise& promised,
                        const std::function<result<void>(const byte_sink&)>& write) {
    auto file = replacing_file::begin(path, promised);
    if (!file) return file.error();
    const byte_sink sink = [&](std::span<const std::byte> bytes) { return file->write(bytes); };
    if (auto ok = write(sink); !ok) return ok.error();
    return file->commit();
}

namespace {

// What is wrong with a window in a file is damage.
result<void> check_stored_window(const snapshot_info& info) {
    if (auto ok = check_window(info); !ok)
        return failure{error_code::corrupt, "header: " + ok.error().message};
    return {};
}

} // namespace

result<void> check_expected(const snapshot_info& info, const loader& how) {
    if (info.kind != how.kind) {
        const kind_entry* const found = find_kind(info.kind);
        if (found == nullptr) return unknown_kind(info);
        return failure{error_code::mismatch,
                       "it holds a " + std::string(found->name) + ", not a " + std::string(how.kind_name)};
    }
    if (auto ok = check_against(info, how.kind, how.layout_version, how.words(info.fields)); !ok)
        return ok.error();
    if (auto ok = check_stored_window(info); !ok) return ok.error();
    if (!how.hash) return {};
    if (info.keys != key_form{}) return formed_keys(info);
    return check_same_hash(info.hash, *how.hash);
}

namespace {

result<snapshot_info> load_chunks(chunk_reader& reader, const loader& how) {
    const snapshot_info& info = reader.info();
    if (auto ok = check_expected(info, how); !ok) return ok.error();
    auto segments = how.make(info, reader.size_is_known());
    if (!segments) return segments.error();
    // Chunks that lie within one segment are read where they belong; others, and the padding, through a buffer.
    std::vector<std::uint64_t> buffer;
    std::size_t which = 0;
    std::size_t done = 0;
    for (std::uint64_t i = 0; i < chunk_count(info.payload_bytes); ++i) {
        const std::size_t words = bytes_of_chunk(info.payload_bytes, i) / 8;
        if (which < segments->size() && (*segments)[which].size() - done >= words) {
            const auto place = (*segments)[which].subspan(done, words);
            if (auto ok = reader.read(bytes_of(place)); !ok) return ok.error();
            swap_if_big(place);
            done += words;
            if (done == (*segments)[which].size()) ++which, done = 0;
            continue;
        }
        buffer.resize(words);
        if (auto ok = reader.read(bytes_of(buffer)); !ok) return ok.error();
        swap_if_big(buffer);
        std::span<const std::uint64_t> left = buffer;
        while (!left.empty() && which < segments->size()) {
            const std::size_t some = std::min(left.size(), (*segments)[which].size() - done);
            std::copy_n(left.begin(), some, (*segments)[which].begin() + static_cast<std::ptrdiff_t>(done));
            left = left.subspan(some);
            done += some;
            if (done == (*segments)[which].size()) ++which, done = 0;
        }
    }
    if (auto ok = reader.finish(); !ok) return ok.error();
    return info;
}

} // namespace

failure in_file(const failure& why, const std::string& path) {
    if (why.message.find(path) != std::string::npos) return why;
    return {why.code, path + ": " + why.message};
}

failure snapshot_origin::named(failure why) const {
    return path_ != nullptr ? in_file(why, *path_) : why;
}

result<snapshot_info> load_form(const snapshot_origin& from, const loader& how) {
    if (from.path() == nullptr && !from.source())
        return failure{error_code::invalid_argument, "there is no source to load from"};
    auto reader =
        from.path() != nullptr ? chunk_reader::open(*from.path()) : chunk_reader::begin(from.source());
    if (!reader) return reader.error();
    auto info = load_chunks(*reader, how);
    if (!info) return from.named(info.error());
    return info;
}

result<void> check_known(const snapshot_info& info) {
    const kind_entry* const kind = find_kind(info.kind);
    if (kind == nullptr) return unknown_kind(info);
    if (auto ok = check_against(info, kind->id, kind->layout_version, kind->words(info.fields)); !ok)
        return ok.error();
    if (auto ok = check_stored_window(info); !ok) return ok.error();
    return kind->check_hash(info.hash);
}

} // namespace detail

result<snapshot_info> inspect(const std::string& path) {
    return detail::guarded([&]() -> result<snapshot_info> {
        auto reader = detail::chunk_reader::open(path);
        if (!reader) return reader.error();
        if (auto ok = detail::check_known(reader->info()); !ok) return detail::in_file(ok.error(), path);
        return reader->info();
    });
}

result<snapshot_info> verify(const std::string& path) {
    return detail::guarded([&]() -> result<snapshot_info> {
        auto reader = detail::chunk_reader::open(path);
        if (!reader) return reader.error();
        if (auto ok = detail::check_known(reader->info()); !ok) return detail::in_file(ok.error(), path);
        if (auto ok = reader->check_all(); !ok) return detail::in_file(ok.error(), path);
        return reader->info();
    });
}

} // namespace bouncer
