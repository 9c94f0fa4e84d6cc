// Records of the input: lines, or what else stands for a key. Read in chunks of whole records, for many threads to work on.
#pragma once

#include "byte_input.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::tool {

enum class framing : std::uint8_t {
    lines,           // what is before '\n'
    zero_terminated, // what is before '\0'
    length_prefixed, // 4 bytes little-endian, then as many bytes
};

inline constexpr std::size_t record_most = std::size_t{1} << 30;

// A record that is no key. The pipeline adds the file and the line.
struct bad_record : std::runtime_error {
    bad_record(std::size_t which, const std::string& why) : std::runtime_error(why), index(which) {}
    std::size_t index; // in its chunk
};

// Whole records, one behind the other, as they stood in the input. A last line without its end gets one.
class chunk {
  public:
    explicit chunk(framing how) noexcept
        : terminator_(how == framing::length_prefixed ? 0 : 1),
          prefix_(how == framing::length_prefixed ? 4 : 0) {}

    std::size_t records() const noexcept { return records_; }
    // The bytes of record i, and with them what frames it.
    std::string_view content(std::size_t i) const noexcept {
        const std::size_t first = begin(i) + prefix_;
        return {bytes_.get() + first, ends_[i] - first};
    }
    // Records [first, last) as they stand, framed.
    std::string_view framed(std::size_t first, std::size_t last) const noexcept {
        const std::size_t from = begin(first);
        return {bytes_.get() + from, begin(last) - from};
    }
    std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }

    // [exclusive] Only the first `count` records stay.
    void truncate(std::size_t count) {
        if (count >= records_) return;
        size_ = begin(count);
        records_ = count;
    }
    // [exclusive] Gives back what a long record needed: every thread has a chunk, and may wait with it for hours.
    void shrink() noexcept {
        if (room_ <= room_kept_bytes) return;
        bytes_.reset();
        room_ = size_ = records_ = 0;
    }
    std::size_t room_bytes() const noexcept { return room_; }
    static constexpr std::size_t room_kept_bytes = std::size_t{8} << 20;
    // [exclusive] Finds the records in the bytes, once. The reader leaves that to who works on the chunk.
    void split(framing how);

    std::size_t input = 0; // which of the inputs it is from

  private:
    friend class record_reader;
    std::size_t begin(std::size_t i) const noexcept { return i == 0 ? 0 : ends_[i - 1] + terminator_; }
    void grow(std::size_t bytes); // keeps what is there

    std::unique_ptr<char[]> bytes_;
    std::size_t room_ = 0;
    std::size_t size_ = 0;
    std::vector<std::uint32_t> ends_; // where the content of each ends; room for more behind the last
    std::size_t records_ = 0;
    unsigned terminator_;
    unsigned prefix_;
};

// [any-thread] How many times `end` occurs.
std::uint64_t count_ends(std::string_view bytes, char end) noexcept;
char terminator_of(framing how) noexcept; // of lines and zero_terminated

// [exclusive] Chunk by chunk through all inputs. Errors are tool_error, and name the file; a line that is too long is a
// bad_record of the chunk that would have been next. An input that is damaged, cut or cannot be read on gives every whole
// record before that, then the error. An archive or a filter is refused by its name before any of it is given, or, out of a
// pipe that gives it in pieces and pauses, as soon as its first 512 bytes tell; not where records are length-prefixed, whose
// bytes may be anything.
class record_reader {
  public:
    // An input that standard output goes to is an error in its turn: what is printed would be read, without end.
    // No paths: standard input. Opens the first at once, the others in their turn: what is wrong with one is told when
    // everything before it has been read.
    record_reader(std::vector<std::string> paths, framing how);

    // False at the end of the last input, or when the command was interrupted.
    bool next(chunk& out);

    const std::string& name(std::size_t input) const { return names_[input]; }
    // Of all inputs, as stored; nothing if one of them is no regular file.
    std::optional<std::uint64_t> total_bytes() const noexcept { return total_; }
    // The one that is being read; null behind the last.
    const byte_input* input() const noexcept { return input_ ? &*input_ : nullptr; }
    // [any-thread] As stored, for progress.
    std::uint64_t taken_bytes() const noexcept { return taken_.load(std::memory_order_relaxed); }
    bool small() const noexcept { return total_ && *total_ < chunk_bytes; }

    // Threads hand chunks to each other: at 256 KiB, which a second-level cache would hold, waking takes a fifth of the time.
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

  private:
    void open_next();
    void check_not_printed_to() const;
    [[noreturn]] void refuse(const signature& what) const;
    const signature* look_at(std::string_view given); // what is refused, by the first bytes that it gives
    // Reads until `out` has a whole record, and of a file until it is full. False at the end of the input. `whole` becomes the
    // bytes of whole records, and holds where this throws, too (of length-prefixed ones: parsed_).
    bool gather(chunk& out, std::size_t& whole);
    // The bytes of whole records at the start of what is in `in`, from byte `known` on.
    std::size_t whole_bytes(const chunk& in, std::size_t known);

    std::vector<std::string> paths_;
    std::vector<std::string> names_;
    framing how_;
    std::optional<std::uint64_t> total_;
    std::uint64_t done_bytes_ = 0;
    std::atomic<std::uint64_t> taken_ = 0;
    std::optional<byte_input> input_;
    std::optional<file_id> printed_to_;
    std::size_t opened_ = 0;
    std::string first_;                // what input_ has given, as far as look_at() needs it
    bool looked_at_ = false;           // that is all it needs
    std::exception_ptr failed_;        // of input_, behind the records that have been given
    bool at_end_ = false;              // of input_: the next is opened when more is asked for
    std::vector<char> carry_;          // the start of a record whose end is not yet here
    std::size_t parsed_ = 0;           // of length-prefixed records: where the next one begins
    std::uint64_t records_before_ = 0; // of this input, length-prefixed: for messages
};

} // namespace bouncer::tool
