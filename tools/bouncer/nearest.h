// The word that was probably meant.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bouncer::tool {

// [any-thread] How many letters must be put in, taken out, replaced or swapped with their neighbour to make one of the other
// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// [any-thread] `; did you mean "dedup"?` for the nearest word, if it is near enough: a third of the letters may be wrong, and
// one of two. Else empty, also if it is one of them. A word that begins with what was written is near, however long.
std::string suggestion(std::string_view written, std::span<const std::string> words);

// [any-thread] For an option that takes one of these words: what is wrong with another, and the nearest. Empty: nothing.
std::function<std::string(const std::string&)> one_of(std::vector<std::string> words);

} // namespace bouncer::tool
