// Standard output, in whole records.
#pragma once

#include "records.h"

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace bouncer::tool {

// [exclusive] What is appended must end where a record ends: it is never written in part, but for a pipe or a device that
// itself takes no more. A full disk: the part of a record that reached a regular file is cut off again.
// Errors: tool_error with the system's text; quiet_exit 141 when nobody reads any more, and 130 when a signal came and a
// pipe takes nothing. After one nothing is written any more: what is in the file is a beginning of what was appended.
class output {
  public:
    output(int number, std::string name, framing how);
    output(output&& other) noexcept
        : number_(other.number_), own_(std::exchange(other.own_, -1)), is_socket_(other.is_socket_),
          name_(std::move(other.name_)), how_(other.how_), buffer_(std::move(other.buffer_)),
          failed_(other.failed_), ends_half_(other.ends_half_) {}
    output& operator=(output&&) = delete;
    ~output();

    void append(std::string_view records) {
        if (buffer_.size() + records.size() > most) {
            flush();
            if (records.size() > most) {
                write(records);
                return;
            }
        }
        buffer_.append(records);
    }
    void flush() {
        if (!buffer_.empty() || failed_) write(buffer_);
        buffer_.clear();
    }
    bool failed() const noexcept { return failed_; }
    // A run that was killed may have left half a record at the end of a regular file. The first write ends it, so that it
    // stands alone; where nothing is written the file stays as it is. Nothing can be done for length-prefixed records.
    void end_half_record() noexcept { ends_half_ = how_ != framing::length_prefixed; }

  private:
    static constexpr std::size_t most = std::size_t{256} << 10;
    void write(std::string_view bytes);
    void put(std::string_view bytes);
    ssize_t write_some(std::string_view bytes) const;
    bool behind_half_record() const;
    void wait_for_room() const;
    void cut_half_record(std::string_view written) const;

    int number_;
    int own_ = -1; // the same pipe or terminal, opened such that a write to it never waits
    bool is_socket_ = false;
    std::string name_;
    framing how_;
    std::string buffer_;
    bool failed_ = false;
    bool ends_half_ = false;
};

} // namespace bouncer::tool
