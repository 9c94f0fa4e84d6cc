// The page on disk: never over a file that is there, unless told.
#pragma once

#include <string>
#include <string_view>

namespace bouncer::tool {

// Errors: tool_error. The check comes before the work; the write decides.
void check_page(const std::string& path, bool force);
void write_page(const std::string& path, std::string_view page, bool force);

} // namespace bouncer::tool
