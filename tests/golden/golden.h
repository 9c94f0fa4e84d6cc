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

#include "support/kinds.h"

#include <bouncer/keyed.h>

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
    for (const auto& entry : std::filesystem::directory_iterator(BOUNCER_SOURCE_DIR "/tests/golden"))
        if (entry.path().extension() == ".txt") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

// visit.operator()<F>() with the plain form of the file's kind; false for a kind that the list does not have.
template <class Visit>
bool with_kind_of(const golden& file, Visit visit) {
    bool known = false;
    for_each_kind<plain_words>([&]<class F>() {
        if (F::kind_name != file.fields.at("kind")) return;
        known = true;
        visit.template operator()<F>();
    });
    return known;
}

template <class F>
typename F::parameters parameters_of(const golden& file) {
    if constexpr (!is_bit_filter<F>::value) {
        std::vector<std::uint64_t> fields;
        std::istringstream numbers(file.fields.at("fields"));
        for (std::uint64_t field = 0; numbers >> field;) fields.push_back(field);
        return F::for_loading(fields, default_hash_of<F>(), {}).value().params();
    }
    typename F::parameters out{};
    size_parameter(out) = file.number("size");
    if constexpr (requires { out.k; }) out.k = static_cast<std::uint32_t>(file.number("k"));
    if constexpr (requires { out.form; }) out.form = static_cast<decltype(out.form)>(file.number("form"));
    return out;
}

// The hashes of the decimal strings of first .. first + count - 1.
template <class F>
std::vector<std::uint64_t> decimal_hashes(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = first; i < first + count; ++i)
        out.push_back(hash_key(typename F::default_hasher{}, std::to_string(i)));
    return out;
}
template <class F>
std::vector<std::uint64_t> added_hashes(const golden& file) {
    return decimal_hashes<F>(0, file.number("keys"));
}
template <class F>
std::vector<std::uint64_t> asked_hashes(const golden& file) {
    return decimal_hashes<F>(file.number("keys"), file.number("asked"));
}

template <class F>
F empty_filter(const golden& file) {
    return F::create(parameters_of<F>(file), {.hash = spec_of(typename F::default_hasher{})}).value();
}

// The goal of a static kind.
inline goal goal_of(const golden& file) {
    goal out{.false_positive_rate = std::stod(file.fields.at("rate"))};
    if (file.fields.contains("prefer")) out.prefer = static_cast<enum prefer>(file.number("prefer"));
    return out;
}

// The filter of a file, by the simplest way there is.
template <class F>
F filter_of(const golden& file, const std::vector<std::uint64_t>& added,
            const std::vector<std::uint64_t>& asked, const hash_spec& spec) {
    if constexpr (buildable<F>) {
        return F::build(added, goal_of(file), {.hash = spec}).value();
    } else if constexpr (buildable_exactly<F>) {
        return F::build(std::span<const std::uint64_t>(added), asked, {.hash = spec}).value();
    } else {
        auto out = F::create(parameters_of<F>(file), {.hash = spec}).value();
        for (const std::uint64_t hash : added) out.add(hash);
        return out;
    }
}
template <class F>
F filter_of(const golden& file) {
    return filter_of<F>(file, added_hashes<F>(file), asked_hashes<F>(file),
                        spec_of(typename F::default_hasher{}));
}

template <class F>
std::vector<std::uint64_t> words_of(const F& f) {
    std::vector<std::uint64_t> out;
    for (const bouncer::detail::stored_segment& each : f.stored().segments)
        out.insert(out.end(), each.words, each.words + each.count);
    return out;
}

} // namespace bouncer::test
