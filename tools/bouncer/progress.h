// A line on a terminal's stderr that says how far the input is read: share, rate, time left. Silent elsewhere,
// and where lines are printed to the terminal themselves.
#pragma once

#include "records.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace bouncer::tool {

// [exclusive]: in the pipeline, from deliver().
class progress {
  public:
    explicit progress(const record_reader& reader, std::string doing = "");
    progress(std::function<double()> share, std::string doing); // share: 0 to 1, or NaN if nobody knows
    ~progress() { clear(); }
    void clear(); // removes the line
    void at(std::uint64_t records);

  private:
    using clock = std::chrono::steady_clock;
    std::function<double()> share_;
    std::string doing_;
    bool shown_;
    bool drawn_ = false;
    clock::time_point begin_;
    clock::time_point last_;
};

} // namespace bouncer::tool
