// Golden files: the words of small filters as a release wrote them. A file that no longer matches means that stored
// filters would be misread: that is a new layout version, never a new golden file.
//
// A file is lines of "name value" (a '#' starts a comment), up to the line "words", then words in hex, word 0 first.
//   kind            a kind's name
//   layout_version  of that kind
//   size            its first explicit parameter; then k and form, where the kind has them
//   fields          instead of these three for kinds that are no bit filters: the fields that an empty one is saved with
//   rate, prefer    of static kinds (prefer as a number): the goal that they are built for; prefer only where it matters
//   parameters      the same in words, for people
//   hash            how keys become hashes
//   keys            n: the decimal strings of 0 .. n-1 were added
//   asked           a: the decimal strings of n .. n+a-1 were asked; of a cascade, the rest of its universe
//   maybe           those of them that are answered "maybe"
// For a new kind write a file with kind, size, k and form, or fields, or rate, keys and asked; the rest follows from
//   BOUNCER_WRITE_GOLDEN=tests/golden golden_tests --gtest_filter='make_golden*'
// which also saves the filter as a snapshot beside it, NAME.bnc: golden_snapshot.h.
#pragma once

#include "support/places.h"

#include <bouncer/detail/stored.h>
#include <bouncer/goal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bouncer::test {

struct golden {
    std::map<std::string, std::string> fields;
    std::vector<std::uint64_t> words;

    std::uint64_t number(const std::string& name) const { return std::stoull(fields.at(name)); }
};

inline std::string text_of(const std::filesystem::path& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
}

inline golden parse_golden(const std::string& text) {
    golden out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line != "words";) {
        if (line.empty() || line[0] == '#') continue;
        const auto space = line.find(' ');
        out.fields[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
    }
    for (std::string word; lines >> word;) out.words.push_back(std::stoull(word, nullptr, 16));
    return out;
}

inline std::vector<std::filesystem::path> golden_files() {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/tests/golden"))
        if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
            out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

// The goal of a static kind.
inline goal goal_of(const golden& file) {
    goal out{.false_positive_rate = std::stod(file.fields.at("rate"))};
    if (file.fields.contains("prefer")) out.prefer = static_cast<enum prefer>(file.number("prefer"));
    return out;
}

template <class F>
std::vector<std::uint64_t> words_of(const F& f) {
    std::vector<std::uint64_t> out;
    for (const bouncer::detail::stored_segment& each : bouncer::detail::storage_access::stored(f).segments)
        out.insert(out.end(), each.words, each.words + each.count);
    return out;
}

} // namespace bouncer::test
