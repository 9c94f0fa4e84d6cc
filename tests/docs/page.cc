#include "docs/page.h"

#include "support/places.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <utility>

namespace bouncer::test {

namespace {

const std::string number = "([0-9][0-9,]*(?:\\.[0-9]+)?)";

// The pattern as a regular expression with a group for each number.
std::regex expression_of(std::string_view pattern) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (pattern.substr(i, 2) == "{}") {
            out += number;
            ++i;
        } else if (c == ' ') {
            out += "\\s+";
        } else {
            if (std::ispunct(static_cast<unsigned char>(c)) != 0) out += '\\';
            out += c;
        }
    }
    return std::regex(out);
}

// "1,234.50" and the step of its last place.
std::pair<double, double> value_and_step(const std::string& written) {
    std::string digits = written;
    std::erase(digits, ',');
    const double value = std::strtod(digits.c_str(), nullptr);
    const std::size_t point = digits.find('.');
    if (point != digits.npos) return {value, std::pow(10.0, -static_cast<double>(digits.size() - point - 1))};
    if (value < 1000) return {value, 1};
    return {value, std::pow(10.0, static_cast<double>(digits.size() - 1 - digits.find_last_not_of('0')))};
}

std::string trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return std::string(text);
}

// "[`bloom`](filters/bloom.md)" is bloom.
std::string label(const std::string& cell) {
    std::string out = std::regex_replace(cell, std::regex("\\[([^\\]]*)\\]\\([^)]*\\)"), "$1");
    std::erase(out, '`');
    return out;
}

std::string shown(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

} // namespace

page::page(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), named_(text_.size()) {
    find_tables();
}

page page::read(const std::string& name) {
    std::ifstream file(source_folder() + "/" + name);
    return {name, std::string(std::istreambuf_iterator<char>(file), {})};
}

void page::find_tables() {
    bool fenced = false;
    bool in_table = false;
    for (std::size_t at = 0; at < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at), text_.size());
        const std::string_view line = std::string_view(text_).substr(at, end - at);
        if (line.starts_with("```")) fenced = !fenced;
        const bool row = !fenced && line.starts_with("|");
        if (row) {
            if (!in_table) tables_.emplace_back();
            table& into = tables_.back();
            into.lines.push_back(at);
            into.cells.emplace_back();
            into.at.emplace_back();
            for (std::size_t first = 1, bar; (bar = line.find('|', first)) != line.npos; first = bar + 1) {
                into.cells.back().push_back(trimmed(line.substr(first, bar - first)));
                into.at.back().push_back(at + first);
            }
        }
        in_table = row;
        at = end + 1;
    }
}

const page::table* page::table_with(std::string_view header) {
    for (const table& each : tables_)
        if (std::ranges::find(each.cells[0], header) != each.cells[0].end()) return &each;
    complain(0, "no table has a column \"" + std::string(header) + "\"");
    return nullptr;
}

std::vector<std::string> page::headers(std::string_view header) {
    const table* const found = table_with(header);
    return found == nullptr ? std::vector<std::string>() : found->cells[0];
}

void page::says(std::string_view pattern, std::initializer_list<double> values) {
    compare(pattern, 0, text_.size(), false, values);
}

void page::quotes(std::string_view pattern) {
    compare(pattern, 0, text_.size(), false, {});
}

void page::cell(std::string_view row, std::string_view column, std::string_view pattern,
                std::initializer_list<double> values) {
    const table* const found = table_with(column);
    if (found == nullptr) return;
    const auto& header = found->cells[0];
    const auto place = static_cast<std::size_t>(std::ranges::find(header, column) - header.begin());
    for (std::size_t i = 2; i < found->cells.size(); ++i) {
        if (label(found->cells[i][0]) != row) continue;
        if (place >= found->cells[i].size()) break;
        const std::size_t first = text_.find_first_not_of(' ', found->at[i][place]);
        return compare(pattern, first, first + found->cells[i][place].size(), true, values);
    }
    complain(found->lines[0], "the table has no row \"" + std::string(row) + "\" with a column \"" +
                                  std::string(column) + "\"");
}

void page::compare(std::string_view pattern, std::size_t first, std::size_t end, bool whole,
                   std::initializer_list<double> values) {
    const auto from = text_.cbegin() + static_cast<std::ptrdiff_t>(first);
    const auto to = text_.cbegin() + static_cast<std::ptrdiff_t>(end);
    const std::regex expression = expression_of(pattern);
    std::smatch match;
    const bool found = whole ? std::regex_match(from, to, match, expression)
                             : std::regex_search(from, to, match, expression);
    if (!found)
        return complain(first, "these words are gone, and the test looks for them: " + std::string(pattern) +
                                   (whole ? "; here stands: " + std::string(from, to) : ""));
    if (!whole && std::regex_search(match[0].second, to, expression))
        return complain(first, "these words stand here twice: " + std::string(pattern));
    if (match.size() != values.size() + 1)
        return complain(first, "the test names " + std::to_string(values.size()) +
                                   " values for: " + std::string(pattern));
    const auto begin = first + static_cast<std::size_t>(match.position(0));
    std::fill_n(named_.begin() + static_cast<std::ptrdiff_t>(begin), match.length(0), true);
    std::size_t group = 1;
    for (const double computed : values) {
        const auto [written, step] = value_and_step(match.str(group));
        if (!(std::abs(written - computed) <= step / 2 * (1 + 1e-9)))
            complain(first + static_cast<std::size_t>(match.position(group)),
                     "it says " + match.str(group) + ", and the library computes " + shown(computed));
        ++group;
    }
}

std::vector<page::complaint> page::complaints() {
    static const std::regex in_cells("`[^`]*`|\\]\\([^)]*\\)|[A-Za-z]+[0-9]+|" + number); // XXH3 is a name
    const auto look_at = [&](std::size_t first, std::size_t end) {
        const auto from = text_.cbegin() + static_cast<std::ptrdiff_t>(first);
        const auto to = text_.cbegin() + static_cast<std::ptrdiff_t>(end);
        for (std::sregex_iterator each(from, to, in_cells), last; each != last; ++each) {
            const std::size_t at = first + static_cast<std::size_t>(each->position(0));
            if ((*each)[1].matched && !named_[at])
                complain(at, "nothing computes the number " + each->str() +
                                 ": compare it in tests/docs/numbers_test.cc");
        }
    };
    for (const table& each : tables_)
        for (std::size_t row = 2; row < each.cells.size(); ++row)
            if (each.at[row].size() > 1)
                look_at(each.at[row][1], std::min(text_.find('\n', each.lines[row]), text_.size()));
    bool fenced = false;
    for (std::size_t at = 0; at < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at), text_.size());
        if (text_.compare(at, 3, "```") == 0) fenced = !fenced;
        if (!fenced && text_.compare(at, 4, "    ") == 0) look_at(at, end);
        at = end + 1;
    }
    return mismatches();
}

std::vector<page::complaint> page::mismatches() {
    return std::exchange(complaints_, {});
}

void page::complain(std::size_t at, std::string text) {
    complaints_.push_back({line_of(at), std::move(text)});
}

std::size_t page::line_of(std::size_t at) const {
    return 1 + static_cast<std::size_t>(
                   std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

} // namespace bouncer::test
