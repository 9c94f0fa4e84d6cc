#include "support/subject.h"

#include <algorithm>
#include <string>

namespace bouncer::test {

subject::model::~model() = default;
void subject::model::lacks(const char* what) const {
    throw std::logic_error("kind " + std::to_string(stored().kind) + " (" + describe() + ") has no " + what +
                           " in this access");
}

kind::~kind() = default;
void kind::lacks(const char* what) const {
    throw std::logic_error(std::string(is.name) + " has no " + what + " in this access");
}

void append(std::vector<choice>& out, choice chosen) {
    out.push_back(std::move(chosen));
}
void append(std::vector<word_bits>& out, word_bits bits) {
    out.push_back(bits);
}
void copy_words(hash_span words, const std::vector<std::span<std::uint64_t>>& segments) {
    for (const std::span<std::uint64_t> segment : segments) {
        if (segment.size() > words.size()) throw std::logic_error("too few words");
        std::copy_n(words.begin(), segment.size(), segment.begin());
        words = words.subspan(segment.size());
    }
}

} // namespace bouncer::test
