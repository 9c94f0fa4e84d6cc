// Sizes in messages.
#pragma once

#include <cstdint>
#include <string>

namespace bouncer::detail {

// "3221225472 bytes (3.0 GiB)": the exact number, and one to read.
std::string size_text(std::uint64_t bytes);

} // namespace bouncer::detail
