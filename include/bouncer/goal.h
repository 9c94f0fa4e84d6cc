// What a user wants from a filter; bits, k and the layout follow from the exact math.
#pragma once

#include <cstdint>
#include <optional>

namespace bouncer {

// Which cost to favour where a kind has several layouts that meet the goal.
enum class prefer : std::uint8_t {
    reads, // the fastest queries; may cost a few percent of space
    adds,  // the cheapest concurrent adds: the fewest words written per key
    space, // the fewest bytes
};

// A goal is `keys` and at least one of the other two:
//   {keys, false_positive_rate}              the smallest filter whose exact rate at `keys` keys meets it;
//   {keys, size_bytes}                       the best rate that fits into the size;
//   {keys, false_positive_rate, size_bytes}  as the first, refused (too_large) above size_bytes.
// "Smallest" up to 0.1 %: large filters get a number of blocks that can be folded. Kinds that grow or forget read it in
// their own way: scalable_bloom takes `keys` for its first layer, windowed_bloom for a window, stable_bloom for how far
// back it shall remember; see their pages.
struct goal {
    std::uint64_t keys = 0;
    std::optional<double> false_positive_rate = std::nullopt;
    std::optional<std::uint64_t> size_bytes = std::nullopt;
    enum prefer prefer = prefer::reads;
};

} // namespace bouncer
