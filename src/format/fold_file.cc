// fold_file: chunk by chunk, in memory that does not grow with the file.
#include <bouncer/detail/bit_scan.h>
#include <bouncer/snapshot.h>

#include "format/chunks.h"
#include "format/kinds.h"

#include <algorithm>

namespace bouncer {

result<snapshot_info> fold_file(const std::string& input, const std::string& output, std::uint64_t factor,
                                const save_options& options) {
    return detail::guarded([&]() -> result<snapshot_info> {
        using namespace detail;
        if (auto ok = check_options(options); !ok) return ok.error();
        auto lock = output_lock::take(output, std::span(&input, 1), options);
        if (!lock) return lock.error();
        auto reader = chunk_reader::open(input);
        if (!reader) return reader.error();
        if (auto ok = check_known(reader->info()); !ok) return in_file(ok.error(), input);
        const snapshot_info from = reader->info();
        const kind_entry& kind = *find_kind(from.kind);
        if (kind.folded == nullptr)
            return failure{error_code::unsupported, "a " + std::string(kind.name) + " cannot be folded"};
        auto fields = kind.folded(from.fields, factor);
        if (!fields) return in_file(fields.error(), input);
        snapshot_info info = from;
        info.fields = std::move(*fields);
        const auto folded_words = kind.words(info.fields);
        if (!folded_words) return in_file(folded_words.error(), input);
        info.payload_bytes = *folded_words * 8;
        take_options(info, options);
        const math::geometry shape = kind.shape(from.fields);

        const file_promise promised{
            .durable = options.durable, .replace = options.replace, .lock = lock->use()};
        auto written = write_file(output, promised, [&](const byte_sink& sink) -> result<void> {
            auto writer = chunk_writer::begin(info, sink);
            if (!writer) return writer.error();
            info = writer->info();
            const std::uint64_t out_words = info.payload_bytes / 8;
            std::vector<std::uint64_t> in(bytes_of_chunk(from.payload_bytes, 0) / 8);
            // Two chunks of the output, from word `base` on: a chunk of the input may end one and begin the next.
            std::vector<std::uint64_t> out(2 * chunk_words);
            std::uint64_t base = 0;
            std::uint64_t emitted = 0;
            const auto emit = [&]() -> result<void> {
                const std::size_t words = bytes_of_chunk(info.payload_bytes, emitted++) / 8;
                const auto chunk = std::span(out).first(words);
                swap_if_big(chunk);
                if (auto ok = writer->write(std::as_bytes(chunk)); !ok) return ok.error();
                std::copy(out.begin() + chunk_words, out.end(), out.begin());
                std::fill(out.begin() + chunk_words, out.end(), 0);
                base += chunk_words;
                return {};
            };
            const std::uint64_t in_words = from.payload_bytes / 8;
            for (std::uint64_t i = 0; i < chunk_count(from.payload_bytes); ++i) {
                const std::size_t words = bytes_of_chunk(from.payload_bytes, i) / 8;
                if (auto ok = reader->read(std::as_writable_bytes(std::span(in).first(words))); !ok)
                    return in_file(ok.error(), input);
                swap_if_big(std::span(in).first(words));
                const std::uint64_t first = i * chunk_words;
                const auto real = std::min<std::uint64_t>(words, in_words - first);
                fold_words(shape, factor,
                           std::span<const std::uint64_t>(in).first(static_cast<std::size_t>(real)), first,
                           out.data(), base);
                const std::uint64_t complete = first_open_word(shape, factor, first + real);
                while (complete - base >= chunk_words && base + chunk_words <= out_words)
                    if (auto ok = emit(); !ok) return ok.error();
            }
            while (emitted < chunk_count(info.payload_bytes))
                if (auto ok = emit(); !ok) return ok.error();
            if (auto ok = reader->finish(); !ok) return in_file(ok.error(), input);
            return writer->finish();
        });
        if (!written) return written.error();
        lock->hand_over();
        return info;
    });
}

} // namespace bouncer
