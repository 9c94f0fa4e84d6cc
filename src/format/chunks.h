// The payload as a stream of chunks: written after a header, read after one.
#pragma once

#include "format/compression.h"
#include "format/envelope.h"
#include "format/file.h"

#include <bouncer/snapshot.h>

#include <bit>
#include <optional>

namespace bouncer::detail {

// Words of a file are little-endian.
inline void swap_if_big(std::span<std::uint64_t> words) noexcept {
    if constexpr (std::endian::native == std::endian::big)
        for (std::uint64_t& word : words) word = __builtin_bswap64(word);
}

// Writes header, chunks in order, footer. Extra memory: the caller's chunk, and what compression needs.
class chunk_writer {
  public:
    // Writes the header. `info` is complete but for time and id.
    static result<chunk_writer> begin(snapshot_info info, const byte_sink& sink);

    const snapshot_info& info() const noexcept { return info_; }
    // The next chunk, of bytes_of_chunk(its number); the caller's own copy, not words that others may write.
    result<void> write(std::span<const std::byte> chunk);
    // The footer. Precondition: all chunks were written.
    result<void> finish();

  private:
    chunk_writer(snapshot_info info, const byte_sink& sink);

    snapshot_info info_;
    const byte_sink* sink_;
    header_page header_;
    std::vector<std::uint64_t> checksums_;
    std::optional<compressor> compressor_;
};

// Reads them from a file or a source, and checks each chunk against the footer: of a file, which may be read in any
// place, the footer comes first; of a source it comes last, and finish() checks.
class chunk_reader {
  public:
    static result<chunk_reader> open(const std::string& path);
    static result<chunk_reader> open(const std::string& path, descriptor file); // open already
    static result<chunk_reader> begin(const byte_source& source);

    const snapshot_info& info() const noexcept { return info_; }
    // Whether the bytes that the header promises are known to be there.
    bool size_is_known() const noexcept { return !source_ && !info_.compressed; }
    // The next chunk, of bytes_of_chunk(its number).
    result<void> read(std::span<std::byte> into);
    // All chunks against their checksums, through a buffer of its own; then finish(). Of a live file nothing: it has none.
    result<void> check_all();
    // Nothing is missing, nothing follows, and all checksums are right. Precondition: all chunks were read.
    result<void> finish();

    // Closes the file and opens it again where it was: for more files than a process may have open.
    void rest() { file_ = descriptor(); }
    result<void> resume();
    // Gives back what decompression needs between two chunks: for many files that are read in turns.
    void drop_buffers() {
        decompressor_.reset();
        compressed_ = {};
    }

  private:
    chunk_reader() = default;
    result<void> read_header();
    result<void> read_footer_of_file();
    result<std::vector<std::byte>> footer_now();
    failure unless_changed(failure why);
    result<void> check_chunk(std::uint64_t index, std::span<const std::byte> stored);
    result<void> check_padding(std::uint64_t index, std::span<const std::byte> chunk) const;
    result<void> fill(std::span<std::byte> into, const char* what);

    std::string path_;
    const byte_source* source_ = nullptr;
    descriptor file_;
    std::uint64_t offset_ = 0;
    std::uint64_t file_bytes_ = 0;
    header_page header_;
    snapshot_info info_;
    std::uint64_t next_ = 0;
    std::vector<std::byte> footer_;        // of a file
    std::vector<std::uint64_t> checksums_; // from the footer, or computed while the footer is still to come
    bool footer_known_ = false;
    std::optional<decompressor> decompressor_;
    std::vector<std::byte> compressed_;
};

} // namespace bouncer::detail
