// merge_files: chunk by chunk, in memory that does not grow with the files.
#include <bouncer/snapshot.h>

#include "format/chunks.h"
#include "format/kinds.h"

namespace bouncer {

namespace detail {

namespace {

// Files that stay open; of more, each is opened for each of its chunks. A process may have 1024 by default.
constexpr std::size_t open_most = 256;

std::string text_of(const std::vector<std::uint64_t>& fields) {
    std::string out;
    for (const std::uint64_t field : fields) out += (out.empty() ? "" : ", ") + std::to_string(field);
    return out;
}

result<void> check_alike(const snapshot_info& first, const std::string& first_path,
                         const snapshot_info& other, const std::string& other_path) {
    const std::string both = first_path + " and " + other_path;
    if (first.kind != other.kind)
        return failure{error_code::mismatch,
                       both + " differ in kind: " + std::string(find_kind(first.kind)->name) + " and " +
                           std::string(find_kind(other.kind)->name)};
    if (first.fields != other.fields)
        return failure{error_code::mismatch, both + " differ in parameters: " + text_of(first.fields) +
                                                 " and " + text_of(other.fields)};
    if (auto ok = check_same_hash(first.hash, other.hash); !ok)
        return failure{ok.error().code, both + " differ in hash: " + ok.error().message};
    if (first.keys != other.keys)
        return failure{error_code::mismatch, both + " differ in their keys, which are taken " +
                                                 form_text(first.keys) + " and " + form_text(other.keys)};
    return {};
}

} // namespace

} // namespace detail

result<snapshot_info> merge_files(const std::vector<std::string>& inputs, const std::string& output,
                                  const save_options& options) {
    return detail::guarded([&]() -> result<snapshot_info> {
        using namespace detail;
        if (inputs.empty()) return failure{error_code::invalid_argument, "there are no files to merge"};
        if (auto ok = check_options(options); !ok) return ok.error();
        auto lock = output_lock::take(output, inputs, options);
        if (!lock) return lock.error();
        std::vector<chunk_reader> readers;
        readers.reserve(inputs.size());
        for (const std::string& path : inputs) {
            auto reader = chunk_reader::open(path);
            if (!reader) return reader.error();
            if (auto ok = check_known(reader->info()); !ok) return in_file(ok.error(), path);
            // Before they are compared: the fields of a kind that grows differ from file to file.
            if (const kind_entry& kind = *find_kind(reader->info().kind); !kind.union_is_or)
                return failure{
                    error_code::unsupported,
                    path + ": files of a " + std::string(kind.name) +
                        (kind.is_static
                             ? " cannot be merged, for their keys are not in them: build one of both sets"
                             : " cannot be merged without loading them: open and merge them")};
            if (!readers.empty()) {
                if (auto ok = check_alike(readers.front().info(), inputs.front(), reader->info(), path); !ok)
                    return ok.error();
            }
            readers.push_back(std::move(*reader));
            if (readers.size() > open_most) readers.back().rest();
        }
        snapshot_info info = readers.front().info();
        take_options(info, options);
        const std::uint64_t payload = info.payload_bytes;
        const file_promise promised{
            .durable = options.durable, .replace = options.replace, .lock = lock->use()};
        auto written = write_file(output, promised, [&](const byte_sink& sink) -> result<void> {
            auto writer = chunk_writer::begin(info, sink);
            if (!writer) return writer.error();
            info = writer->info();
            std::vector<std::uint64_t> all(bytes_of_chunk(payload, 0) / 8);
            std::vector<std::uint64_t> one(all.size());
            for (std::uint64_t i = 0; i < chunk_count(payload); ++i) {
                const std::size_t words = bytes_of_chunk(payload, i) / 8;
                for (std::size_t which = 0; which < readers.size(); ++which) {
                    const bool resting = which >= open_most;
                    if (resting) {
                        if (auto ok = readers[which].resume(); !ok) return ok.error();
                    }
                    const auto into = std::span(which == 0 ? all : one).first(words);
                    if (auto ok = readers[which].read(std::as_writable_bytes(into)); !ok)
                        return in_file(ok.error(), inputs[which]);
                    readers[which].drop_buffers();
                    if (resting) readers[which].rest();
                    if (which != 0)
                        for (std::size_t w = 0; w < words; ++w) all[w] |= one[w];
                }
                if (auto ok = writer->write(std::as_bytes(std::span(all).first(words))); !ok)
                    return ok.error();
            }
            for (std::size_t which = 0; which < readers.size(); ++which)
                if (auto ok = readers[which].finish(); !ok) return in_file(ok.error(), inputs[which]);
            return writer->finish();
        });
        if (!written) return written.error();
        lock->hand_over();
        return info;
    });
}

} // namespace bouncer
