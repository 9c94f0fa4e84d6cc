// Numbers for people to read.
#pragma once

#include <cstdint>
#include <string>

namespace bouncer::tool {

std::string count_text(std::uint64_t count); // 1,234,567
std::string about_text(std::uint64_t count); // ≈1,230,000: three digits, of a count that is not exact
std::string bytes_text(std::uint64_t bytes); // 1.5 GiB, 412 B: three digits
std::string rate_text(double rate);          // 1.02 %, 0.00012 %; three digits
std::string short_count_text(double count);  // 1.23M, 45.6K, 789: three digits
std::string number_text(double value, int digits = 3);
std::string seconds_text(double seconds); // 1.2 s, 3 min 20 s, 2 h 5 min, 3 days

} // namespace bouncer::tool
