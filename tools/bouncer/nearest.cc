#include "nearest.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace bouncer::tool {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the table: this one and the two before it.
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

std::string suggestion(std::string_view written, std::span<const std::string> words) {
    constexpr std::size_t longest = 64; // what is longer is no slip of the finger
    const std::size_t letters = written.size() - std::min(written.find_first_not_of('-'), written.size());
    if (letters < 2 || written.size() > longest) return {}; // any letter is near any other
    const std::string* nearest = nullptr;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string& word : words) {
        const bool begun = written.size() >= 2 && word.starts_with(written);
        if (word == written) return {}; // it is one of them: something else is wrong
        const std::size_t distance = begun ? 1 : edit_distance(written, word);
        const std::size_t most = std::max<std::size_t>(1, std::max(written.size(), word.size()) / 3);
        if (distance > most || distance >= std::max(written.size(), word.size()) || distance >= least)
            continue;
        nearest = &word;
        least = distance;
    }
    return nearest == nullptr ? "" : "; did you mean \"" + *nearest + "\"?";
}

std::function<std::string(const std::string&)> one_of(std::vector<std::string> words) {
    return [words = std::move(words)](const std::string& written) -> std::string {
        std::string all;
        for (const std::string& word : words) {
            if (word == written) return {};
            all += (all.empty() ? "" : ", ") + word;
        }
        return '"' + written + "\" is none of " + all + suggestion(written, words);
    };
}

} // namespace bouncer::tool
