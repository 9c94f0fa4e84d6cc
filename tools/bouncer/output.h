// Standard output, in whole records.
#pragma once

#include "records.h"

#include <string>
#include <string_view>

namespace bouncer::tool {

// [exclusive] What is appended must end where a record ends: it is never written in part, but for a pipe or a device that
// itself takes no more. A full disk: the part of a record that reached a regular file is cut off again.
// Errors: tool_error with the system's text; quiet_exit 141 when nobody reads any more.
class output {
  public:
    output(int number, std::string name, framing how) : number_(number), name_(std::move(name)), how_(how) {}
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
        if (!buffer_.empty()) write(buffer_);
        buffer_.clear();
    }

  private:
    static constexpr std::size_t most = std::size_t{256} << 10;
    void write(std::string_view bytes);

    int number_;
    std::string name_;
    framing how_;
    std::string buffer_;
};

} // namespace bouncer::tool
