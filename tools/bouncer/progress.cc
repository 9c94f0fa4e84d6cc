#include "progress.h"

#include "text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bouncer::tool {

namespace {

void put(const std::string& text) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) {
    } // a lost bar is no loss
}

std::size_t terminal_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

} // namespace

progress::progress(const record_reader& reader, progress_line how)
    : progress(
          [&reader] {
              const auto total = reader.total_bytes();
              if (!total || *total == 0) return std::nan("");
              return static_cast<double>(reader.taken_bytes()) / static_cast<double>(*total);
          },
          std::move(how)) {}

progress::progress(std::function<double()> share, progress_line how)
    : share_(std::move(share)), how_(std::move(how)),
      shown_(!how_.quiet && ::isatty(STDERR_FILENO) == 1 &&
             !(how_.beside_lines && ::isatty(STDOUT_FILENO) == 1)),
      begin_(clock::now()), last_(begin_) {}

void progress::clear() {
    if (drawn_) put("\r\x1b[K");
    drawn_ = false;
}

void progress::at(std::uint64_t records) {
    if (!shown_) return;
    const auto now = clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double rate = static_cast<double>(records) / seconds;
    std::string line = how_.doing.empty() ? "" : how_.doing + "  ";
    if (const double told = share_(); !std::isnan(told)) {
        const double share = std::min(1.0, told);
        constexpr std::size_t width = 24;
        const auto full = static_cast<std::size_t>(share * width);
        line += "[" + std::string(full, '#') + std::string(width - full, '.') + "] " +
                std::to_string(static_cast<int>(share * 100)) + "%  ";
        if (share > 0.01) line += seconds_text(seconds / share - seconds) + " left  ";
    }
    line += short_count_text(static_cast<double>(records)) + " keys  " + short_count_text(rate) + "/s";
    put("\r" + line.substr(0, terminal_columns() - 1) + "\x1b[K");
    drawn_ = true;
}

} // namespace bouncer::tool
