#include "instance.h"

#include "hashes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

namespace bench {
namespace {

constexpr double tolerance = 0.03;
constexpr int builds_most = 8;
// Beyond this many keys the size is first found with fewer, where a build is cheap; a blocked layout's rate depends on
// bits per key only.
constexpr std::uint64_t sizing_keys = 10'000'000;

bool within(double measured, double target) {
    return std::abs(measured / target - 1) <= tolerance;
}

double bits_of(const subject& filter, std::uint64_t keys) {
    return static_cast<double>(filter.size_bytes()) * 8 / static_cast<double>(keys);
}

// Of a measured rate: the sample's sigma, and that of one filter's own fill around the expected one.
double sigma_of(const variant& what) {
    const auto samples = static_cast<double>(fpr_samples(what.fpr));
    return what.fpr * std::sqrt(1 / (what.fpr * samples) + 4 / static_cast<double>(what.keys));
}

std::string percent(double rate) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %%", rate * 100);
    return text;
}

} // namespace

void fill(subject& filter, const subject_type& type, std::uint64_t keys) {
    const auto add_part = [&](std::uint64_t first, std::uint64_t last) {
        std::vector<std::uint64_t> block(std::min<std::uint64_t>(last - first, 1 << 18));
        for (; first < last; first += block.size()) {
            block.resize(std::min<std::uint64_t>(block.size(), last - first));
            present_hashes(first, block);
            if (type.can & can_add_batch)
                filter.add_batch(block);
            else
                filter.add(block);
        }
    };
    const unsigned threads = type.can & can_share ? std::max(1u, std::thread::hardware_concurrency()) : 1;
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t)
        others.emplace_back(add_part, keys / threads * t, t + 1 == threads ? keys : keys / threads * (t + 1));
    add_part(0, threads == 1 ? keys : keys / threads);
    for (std::thread& other : others) other.join();
}

std::uint64_t fpr_samples(double expected) {
    return static_cast<std::uint64_t>(std::clamp(10'000 / expected, 2e6, 4e7));
}

double measure_fpr(const subject& filter, const subject_type& type, double expected) {
    const std::uint64_t samples = fpr_samples(expected);
    std::vector<std::uint64_t> block(1 << 15);
    const std::unique_ptr<bool[]> answers(new bool[block.size()]);
    std::uint64_t found = 0;
    for (std::uint64_t first = 0; first < samples; first += block.size()) {
        block.resize(std::min<std::uint64_t>(block.size(), samples - first));
        absent_hashes(first, block);
        found += type.can & can_query_batch
                     ? filter.query_batch(block, std::span(answers.get(), block.size()))
                     : filter.query(block);
    }
    return static_cast<double>(found) / static_cast<double>(samples);
}

// How many of the first keys that were added are not found, by either way of asking: none, or it is no filter.
static std::uint64_t present_missing(const subject& filter, const subject_type& type, std::uint64_t keys) {
    std::vector<std::uint64_t> block(std::min<std::uint64_t>(keys, 1 << 17));
    const std::unique_ptr<bool[]> answers(new bool[block.size()]);
    present_hashes(0, block);
    std::size_t missing = block.size() - filter.query(block);
    if (type.can & can_query_batch)
        missing += block.size() - filter.query_batch(block, std::span(answers.get(), block.size()));
    return missing;
}

std::unique_ptr<subject> instances::make(const subject_type& type, const variant& what,
                                         double bits_per_key) const {
    try {
        return type.make({.keys = what.keys,
                          .fpr = what.fpr,
                          .bits_per_key = bits_per_key,
                          .pages = what.pages,
                          .prefer = what.prefer});
    } catch (const std::exception&) { // a peer's bad_alloc
        return nullptr;
    }
}

// A step of the secant on ln(rate) over bits per key, where every Bloom layout is almost a line of slope -0.45.
instances::size instances::size_for(const subject_type& type, const variant& what,
                                    std::unique_ptr<subject>& made) {
    const size_key key{what.name, what.build, what.prefer, what.keys, what.fpr};
    if (const auto known = sizes_.find(key); known != sizes_.end()) return known->second;

    double bits = 0; // as the subject sizes itself
    bool broken = false;
    if (what.keys > sizing_keys) {
        variant smaller = what;
        smaller.keys = sizing_keys;
        std::unique_ptr<subject> unused;
        const size there = size_for(type, smaller, unused);
        bits = there.bits_per_key;
        broken = there.promise_broken;
    }
    size found{0, "void: no size with a rate near " + percent(what.fpr), broken};
    double last_bits = 0;
    double last_log = 0;
    double slope = -0.45;
    for (int build = 0; build < builds_most; ++build) {
        auto filter = make(type, what, bits);
        if (!filter || filter->size_bytes() > max_bytes_) {
            found.note = filter ? "unmeasured: larger than --max-bytes" : "unmeasured: cannot be made so";
            break;
        }
        fill(*filter, type, what.keys);
        const double measured = measure_fpr(*filter, type, what.fpr);
        if (bits == 0 && !type.peer && measured > what.fpr + 5 * sigma_of(what)) found.promise_broken = true;
        if (within(measured, what.fpr)) {
            found.bits_per_key = bits;
            found.note.clear();
            made = std::move(filter);
            break;
        }
        const double real_bits = bits_of(*filter, what.keys);
        const double log_rate = std::log(std::max(measured, 1e-9) / what.fpr);
        if (last_bits > 0 && std::abs(real_bits - last_bits) > 1e-3) {
            const double between = (log_rate - last_log) / (real_bits - last_bits);
            if (between < -0.1 && between > -2) slope = between;
        }
        last_bits = real_bits;
        last_log = log_rate;
        bits = std::clamp(real_bits - log_rate / slope, real_bits / 2, real_bits * 2);
    }
    return sizes_[key] = found;
}

instance& instances::get(const variant& what) {
    const size_key key{what.name, what.build, what.prefer, what.keys, what.fpr};
    const auto [place, fresh] = made_.try_emplace({what.pages, key});
    instance& made = place->second;
    if (!fresh) return made;

    for (const plugin& from : plugins_)
        if (from.build == what.build) made.type = from.find(what.name);
    if (made.type == nullptr || made.type->make == nullptr || made.type->can == 0) {
        made.type = nullptr;
        made.note = "unmeasured: " + what.name + " is not in this build";
        return made;
    }
    const size chosen = size_for(*made.type, what, made.filter); // full, when it was made just now
    made.note = chosen.note;
    if (made.note.starts_with("unmeasured")) return made;
    if (!made.filter) {
        made.filter = make(*made.type, what, chosen.bits_per_key);
        if (!made.filter) {
            made.note = "unmeasured: cannot be made so";
            return made;
        }
        fill(*made.filter, *made.type, what.keys);
    }
    made.bits_per_key = bits_of(*made.filter, what.keys);
    made.fpr_measured = measure_fpr(*made.filter, *made.type, what.fpr);
    made.fpr_wrong = chosen.promise_broken || (made.note.empty() && !within(made.fpr_measured, what.fpr));
    if (const std::uint64_t missing = present_missing(*made.filter, *made.type, what.keys); missing > 0) {
        made.note = "void: " + std::to_string(missing) + " false negatives";
        made.fpr_wrong = true;
    }
    return made;
}

} // namespace bench
