// After N. Dayan, M. Athanassoulis and S. Idreos, "Monkey: Optimal Navigable Key-Value Store" (2017): one lookup asks every
// level, so the sum of the rates counts, and a bit is worth most where keys are few.
#include <bouncer/detail/format.h>
#include <bouncer/detail/layout.h>
#include <bouncer/planner.h>

#include "planner/asked.h"
#include "planner/kinds.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bouncer::planner {

namespace {

using detail::scientific;

constexpr double ln2_squared = std::numbers::ln2 * std::numbers::ln2;
constexpr std::uint64_t bytes_most = std::uint64_t{1} << 50; // of all filters
// One filter has at least a word, and at most what its layout can have.
constexpr double filter_least = 8;
constexpr double filter_most = 8.0 * detail::words_most;
// A filter that turns away fewer than 5 % of the absent keys is not worth having.
constexpr double useful_rate = 0.95;

// The best flat filter of a size; nullopt where there is none.
std::optional<candidate> flat_filter(std::uint64_t keys, double bytes) {
    if (bytes <= 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(std::clamp(bytes, filter_least, filter_most));
    auto made = unless_no_memory(design("bloom", {.keys = keys, .size_bytes = size}));
    if (!made || made->rate >= 1) return std::nullopt;
    return std::move(*made);
}

std::uint64_t whole(double keys) {
    return static_cast<std::uint64_t>(std::llround(keys));
}

// Bits of each level. Monkey's split may leave a filter less than a word, or more than a filter can have: those get that
// bound, and the others share the rest. Empty where there is too little for a word each.
std::vector<double> bounded_split(const std::vector<double>& keys, double bits) {
    std::vector<double> out(keys.size(), 0.0);
    std::vector<std::size_t> open(keys.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    for (double left = bits; !open.empty();) {
        std::vector<double> open_keys;
        for (const std::size_t i : open) open_keys.push_back(keys[i]);
        const std::vector<double> split = monkey_bits(open_keys, left);
        std::vector<std::size_t> inside;
        for (std::size_t j = 0; j < open.size(); ++j) {
            const std::size_t i = open[j];
            const double share = split[j] * keys[i];
            out[i] = std::clamp(share, 8 * filter_least, 8 * filter_most);
            if (out[i] == share)
                inside.push_back(i);
            else
                left -= out[i];
        }
        if (left < 0) return {};
        if (inside.size() == open.size()) break;
        open = std::move(inside);
    }
    return out;
}

// Levels of so many keys with so many bits each, and their exact rates.
lsm_split exact_split(const std::vector<double>& keys, const std::vector<double>& bits) {
    lsm_split out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        lsm_level level;
        level.keys = whole(keys[i]);
        if (const auto made = flat_filter(level.keys, bits[i] / 8); made && made->rate <= useful_rate) {
            level.size_bytes = made->size_bytes;
            level.bits_per_key = made->bits_per_key;
            level.rate = made->rate;
        }
        out.unfiltered += level.size_bytes == 0;
        out.size_bytes += level.size_bytes;
        out.reads += level.rate;
        out.levels.push_back(level);
    }
    return out;
}

// Below a bit per key a real filter is much worse than the curve: its k cannot be below 1. So the exact rates decide how
// many of the largest levels go without a filter.
lsm_split best_split(const std::vector<double>& keys, std::uint64_t size_bytes) {
    const double bits = 8 * static_cast<double>(size_bytes);
    lsm_split best = exact_split(keys, std::vector<double>(keys.size(), 0.0)); // no filter at all
    for (std::size_t filtered = keys.size(); filtered > 0; --filtered) {
        const std::vector<double> smallest(keys.begin(),
                                           keys.begin() + static_cast<std::ptrdiff_t>(filtered));
        const std::vector<double> ideal = monkey_bits(smallest, bits);
        if (ideal.back() == 0) continue; // the same as with one level less
        // No filter is below the curve, and fewer levels make the curve worse. The 1 % is for rounding.
        auto curve = static_cast<double>(keys.size() - filtered);
        for (const double bits_per_key : ideal) curve += std::exp(-ln2_squared * bits_per_key);
        if (0.99 * curve > best.reads) break;
        std::vector<double> split = bounded_split(smallest, bits);
        if (split.empty()) continue;
        split.resize(keys.size(), 0.0);
        lsm_split tried = exact_split(keys, split);
        if (tried.reads < best.reads) best = std::move(tried);
    }
    return best;
}

// The last number for which something does not hold and the first for which it does, between `least` and `most`; it
// holds for all after that. To 0.01 %: filters have steps of up to 0.1 %. Equal where it holds for `least`, or never.
struct edge {
    std::uint64_t before;
    std::uint64_t after;
};

template <class Holds>
edge edge_of(std::uint64_t least, std::uint64_t most, Holds holds) {
    edge out{least, least};
    while (!holds(out.after)) {
        out.before = out.after;
        if (out.after == most) return out;
        out.after = out.after > most / 2 ? most : 2 * out.after;
    }
    while (out.after - out.before > 1 + out.after / 10'000) {
        const std::uint64_t middle = out.before + (out.after - out.before) / 2;
        (holds(middle) ? out.after : out.before) = middle;
    }
    return out;
}

// The shape of a tree, for any number of keys.
class level_shares {
  public:
    explicit level_shares(const lsm_tree& tree) : shares_(tree.levels) {
        for (std::uint32_t i = 0; i < tree.levels; ++i) sum_ += shares_[i] = std::pow(tree.ratio, i);
    }
    // The fewest keys of a tree: one in the first level.
    double fewest() const { return std::ceil(sum_); }
    std::vector<double> of(std::uint64_t keys) const {
        std::vector<double> out;
        for (const double share : shares_) out.push_back(share * static_cast<double>(keys) / sum_);
        return out;
    }

  private:
    std::vector<double> shares_;
    double sum_ = 0;
};

failure invalid(const std::string& message) {
    return {error_code::invalid_argument, message};
}

result<void> check(const lsm_tree& tree) {
    if (auto ok = check_shape(tree); !ok) return ok;
    if (tree.size_bytes && *tree.size_bytes > bytes_most)
        return invalid("the memory must be at most 2^50 bytes, and is " + std::to_string(*tree.size_bytes));
    if (tree.reads && !(*tree.reads > 0))
        return invalid("the reads in vain per absent key must be above 0, and are " +
                       scientific(*tree.reads));
    if (tree.reads && *tree.reads >= tree.levels)
        return invalid("no filter is needed: without one an absent key costs " + std::to_string(tree.levels) +
                       " reads in vain, one per level, and " + scientific(*tree.reads) + " are allowed");
    return {};
}

std::string at_reads(const lsm_tree& tree) {
    return std::to_string(tree.levels) + " levels at " + scientific(*tree.reads) +
           " reads in vain per absent key";
}

result<std::uint64_t> least_bytes(const lsm_tree& tree, const std::vector<double>& keys) {
    const double total = std::accumulate(keys.begin(), keys.end(), 0.0);
    // No level may have more than the sum. The 1 % is for rounding.
    const double least = 0.99 / 8 * total * std::max(0.0, -std::log(*tree.reads)) / ln2_squared;
    const auto enough = [&](std::uint64_t bytes) { return best_split(keys, bytes).reads <= *tree.reads; };
    const edge found =
        edge_of(static_cast<std::uint64_t>(std::clamp(least, filter_least, 0x1p49)), bytes_most, enough);
    if (found.before == bytes_most)
        return failure{error_code::too_large,
                       at_reads(tree) +
                           " need more than filters can have: 128 TiB each, 2^50 bytes together"};
    return found.after;
}

result<std::uint64_t> most_keys(const lsm_tree& tree, const level_shares& shares, std::uint64_t bytes) {
    const auto fewest = static_cast<std::uint64_t>(shares.fewest());
    const auto too_many = [&](std::uint64_t keys) {
        return best_split(shares.of(keys), bytes).reads > *tree.reads;
    };
    if (too_many(fewest))
        return failure{error_code::too_large, at_reads(tree) + " do not fit into " + std::to_string(bytes) +
                                                  " bytes, not even with " + std::to_string(fewest) +
                                                  " keys, one in the first level"};
    return edge_of(fewest, keys_most, too_many).before;
}

// What the wishes leave open is solved: keys and memory are both known then.
struct sized {
    std::uint64_t keys;
    std::uint64_t size_bytes; // to split
    std::optional<std::uint64_t> bound = std::nullopt;
};

result<sized> solve(const lsm_tree& tree, const level_shares& shares) {
    // Of the reads complete() needs to know that they are given, and that hashes can keep them.
    const auto what = complete({.keys = tree.keys,
                                .rate = tree.reads ? std::optional(std::min(*tree.reads, 0.5)) : std::nullopt,
                                .size_bytes = tree.size_bytes,
                                .bits_per_key = tree.bits_per_key});
    if (!what) return what.error();
    const auto too_few = [&](const std::string& keys) {
        return failure{error_code::invalid_argument, keys + " in " + std::to_string(tree.levels) +
                                                         " levels of ratio " + scientific(tree.ratio) +
                                                         " leave less than one key for the first"};
    };
    if (what->keys && static_cast<double>(*what->keys) < shares.fewest())
        return too_few(std::to_string(*what->keys) + " keys");
    if (shares.fewest() > static_cast<double>(keys_most)) return too_few("2^48 keys");
    if (!what->keys) {
        const auto keys = most_keys(tree, shares, *what->size_bytes);
        if (!keys) return keys.error();
        return sized{*keys, *what->size_bytes};
    }
    if (!tree.reads) return sized{*what->keys, *what->size_bytes};
    const auto bytes = least_bytes(tree, shares.of(*what->keys));
    if (!bytes) return bytes.error();
    return sized{*what->keys, *bytes, what->size_bytes};
}

// With the same bits per key on every level, and with more or fewer keys.
void compare(lsm_split& out, const std::vector<double>& keys, const sized& size) {
    out.keys = size.keys;
    out.uniform_bits_per_key = 8 * static_cast<double>(size.size_bytes) / static_cast<double>(size.keys);
    std::vector<std::function<double(double)>> rates; // over the share of the planned keys
    for (std::size_t i = 0; i < keys.size(); ++i) {
        lsm_level& level = out.levels[i];
        if (const auto made = flat_filter(level.keys, out.uniform_bits_per_key * keys[i] / 8))
            level.uniform_rate = made->rate;
        out.uniform_reads += level.uniform_rate;
        if (const auto made = flat_filter(level.keys, static_cast<double>(level.size_bytes)))
            rates.emplace_back(
                [rate_at = made->rate_at, n = keys[i]](double share) { return rate_at(whole(share * n)); });
    }
    out.reads_at = [rates, planned = static_cast<double>(size.keys), rest = out.unfiltered](std::uint64_t n) {
        double reads = rest;
        for (const auto& rate : rates) reads += rate(static_cast<double>(n) / planned);
        return reads;
    };
}

} // namespace

// L = sum exp(-a c_i) + mu (sum n_i c_i - bits), a = ln^2 2. Where c_i > 0: a p_i = mu n_i, so p_i = s n_i with one s for
// all. The budget gives s: bits = -(1/a) sum n_i ln(s n_i) over the levels with a filter. Those are the smallest: a
// level has one as long as s n_i < 1. Dropping the largest whose p_i would reach 1 until none does finds them.
std::vector<double> monkey_bits(const std::vector<double>& level_keys, double bits) {
    std::vector<std::size_t> order(level_keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t x, std::size_t y) { return level_keys[x] < level_keys[y]; });
    double keys = 0;
    double weighted = 0; // sum n ln n
    for (const double n : level_keys) {
        keys += n;
        weighted += n * std::log(n);
    }
    std::vector<double> out(level_keys.size(), 0.0);
    while (!order.empty()) {
        const double largest = level_keys[order.back()];
        const double log_s = -(ln2_squared * bits + weighted) / keys;
        if (log_s + std::log(largest) < 0) {
            for (const std::size_t i : order) out[i] = -(log_s + std::log(level_keys[i])) / ln2_squared;
            break;
        }
        keys -= largest;
        weighted -= largest * std::log(largest);
        order.pop_back();
    }
    return out;
}

result<void> check_shape(const lsm_tree& tree) {
    return detail::guarded([&]() -> result<void> {
        if (tree.levels < 1 || tree.levels > 32)
            return invalid("levels must be 1 to 32, and is " + std::to_string(tree.levels));
        if (!(tree.ratio > 1) || !(tree.ratio <= 1000))
            return invalid("the ratio between levels must be above 1 and at most 1000, and is " +
                           scientific(tree.ratio));
        return {};
    });
}

result<lsm_split> plan_lsm(const lsm_tree& tree) {
    return detail::guarded([&]() -> result<lsm_split> {
        if (auto ok = check(tree); !ok) return ok.error();
        const level_shares shares(tree);
        const auto size = solve(tree, shares);
        if (!size) return size.error();
        const std::vector<double> keys = shares.of(size->keys);
        lsm_split out = best_split(keys, size->size_bytes);
        if (size->bound && out.size_bytes > *size->bound)
            return failure{error_code::too_large, std::to_string(size->keys) + " keys in " + at_reads(tree) +
                                                      " do not fit into " + std::to_string(*size->bound) +
                                                      " bytes: their filters need " +
                                                      std::to_string(out.size_bytes)};
        compare(out, keys, *size);
        return out;
    });
}

} // namespace bouncer::planner
