#include "tutorial_support.h"

#include "hashes.h"
#include "statistics.h"

#include <algorithm>
#include <barrier>
#include <thread>
#include <utility>

namespace bench::tutorial {

namespace {

constexpr const char* build_name() {
#if defined(__AVX2__)
    return "native";
#else
    return "baseline";
#endif
}

} // namespace

row row_of(std::string name, std::string kind, std::string op, std::uint64_t keys) {
    row made;
    made.name = std::move(name);
    made.kind = std::move(kind);
    made.op = std::move(op);
    made.keys = keys;
    return made;
}

sheet::sheet(const tutorial_options& options) : options_(options) {
    if (options_.threads == 0) options_.threads = std::max(1u, std::thread::hardware_concurrency());
    options_.repeat = std::max(1u, options_.repeat);
    options_.keys = std::max<std::uint64_t>(1000, options_.keys);
}

void sheet::measure(row made, std::uint64_t operations, const std::function<void()>& before,
                    const std::function<double()>& round) {
    made.build = build_name();
    for (unsigned i = 0; i < options_.repeat; ++i) {
        if (before) before();
        made.rounds.push_back(round() / static_cast<double>(operations));
    }
    made.ns_min = least_of(made.rounds);
    made.ns_median = median_of(made.rounds);
    made.mops = made.threads * 1e3 / made.ns_median;
    rows_.push_back(std::move(made));
}

void sheet::unmeasured(row made, std::string_view why) {
    made.build = build_name();
    made.note = "unmeasured: " + std::string(why);
    rows_.push_back(std::move(made));
}

double timed_together(unsigned threads, const std::function<void(unsigned)>& work) {
    std::barrier ready(threads + 1);
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            ready.arrive_and_wait();
            work(i);
        });
    ready.arrive_and_wait();
    const double start = wall_ns();
    running.clear(); // joins
    return (wall_ns() - start) * threads;
}

text_keys::text_keys(std::uint64_t first, std::uint64_t count) : letters_(count * 16, '0') {
    views_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        char* const key = letters_.data() + i * 16;
        std::copy_n("key-", 4, key);
        std::uint64_t number = first + i;
        for (int digit = 15; digit > 3; --digit, number /= 10)
            key[digit] = static_cast<char>('0' + number % 10);
        views_.emplace_back(key, 16);
    }
}

std::span<const std::string_view> text_keys::part(unsigned index, unsigned parts) const {
    const std::size_t each = views_.size() / parts;
    return std::span(views_).subspan(index * each, each);
}

std::vector<std::string_view> shuffled(std::span<const std::string_view> present,
                                       std::span<const std::string_view> absent) {
    std::vector<std::string_view> out;
    const std::size_t count = std::min(present.size(), absent.size());
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        out.push_back((scrambled(i + 1) & 1) != 0 ? present[i] : absent[i]);
    return out;
}

std::vector<std::uint64_t> hashes(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> out(count);
    for (std::uint64_t i = 0; i < count; ++i) out[i] = scrambled(first + i + 1);
    return out;
}

std::string page_size_of(const bouncer::region& memory) {
    return memory.huge_page_bytes() * 2 > memory.size_bytes() ? "2M" : "4K";
}

std::string size_name(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
    return std::to_string(bytes) + units[unit];
}

} // namespace bench::tutorial
