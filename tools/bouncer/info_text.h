// The forms of a file_report: for people, as JSON, and as metrics.
#pragma once

#include "file_report.h"

#include <span>
#include <string>

namespace bouncer::tool {

std::string info_lines(std::span<const file_report> reports);
std::string info_json(std::span<const file_report> reports, bool as_list); // else the object of the only one
std::string info_prometheus(std::span<const file_report> reports); // text exposition format, version 0.0.4

} // namespace bouncer::tool
