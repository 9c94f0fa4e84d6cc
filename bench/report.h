// What a run leaves behind: a table on the screen, a JSON document, tables in Markdown.
#pragma once

#include "row.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace bench {

struct report {
    std::map<std::string, std::string> machine;
    std::vector<row> rows;
    std::vector<std::string> verdict; // the lines of a verdict, for Markdown
};

void print_header(std::FILE* to);
void print_row(std::FILE* to, const row& of);

// Throws bad_request unless the file can be written: better before the measurement than after it.
void check_writable(const std::string& path);

// {schema, machine, rows, verdict}; verdict is null without one. Both throw bad_request when the file cannot be written.
void write_json(const std::string& path, const report& of, const nlohmann::json& verdict);
void write_markdown(const std::string& path, const report& of);

} // namespace bench
