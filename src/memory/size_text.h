// Sizes and system errors in messages.
#pragma once

#include <cstdint>
#include <string>

namespace bouncer::detail {

// "3221225472 bytes (3.0 GiB)": the exact number, and one to read.
std::string size_text(std::uint64_t bytes);

// What the system calls an errno value: "No such file or directory".
std::string error_text(int error_number);

} // namespace bouncer::detail
