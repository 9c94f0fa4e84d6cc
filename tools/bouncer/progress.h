// A line on a terminal's stderr that says how far the input is read: share, rate, time left. Silent elsewhere.
#pragma once

#include "records.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace bouncer::tool {

struct progress_line {
    std::string doing;  // "build"
    bool quiet = false; // never shown
    bool beside_lines =
        false; // the command prints lines meanwhile: not shown where these go to a terminal too
};

// [exclusive]: in the pipeline, from deliver().
class progress {
  public:
    progress(const record_reader& reader, progress_line how);
    progress(std::function<double()> share, progress_line how); // share: 0 to 1, or NaN if nobody knows
    ~progress() { clear(); }
    void clear(); // removes the line
    void at(std::uint64_t records);

  private:
    using clock = std::chrono::steady_clock;
    std::function<double()> share_;
    progress_line how_;
    bool shown_;
    bool drawn_ = false;
    clock::time_point begin_;
    clock::time_point last_;
};

} // namespace bouncer::tool
