// The demo: a filter of half of a key set, asked about both halves, beside an exact hash set. Prints one table.
//
//   bouncer_demo [--keys N] [--fpr R]      N keys in all (default 4000000), half of them added; R is the promised
//                                          false-positive rate (default 0.01)
#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/instruction_set.h>
#include <bouncer/keyed.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using keys_type = std::vector<std::uint64_t>;

struct row {
    std::string name;
    std::uint64_t bytes = 0;
    double promised = 0;
    std::size_t false_positives = 0;
    std::size_t false_negatives = 0;
    double add_mops = 0;
    double single_mops = 0;
    double batch_mops = 0; // 0: has no batches
    double cores_mops = 0;
};

double seconds_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs work(first, last) over [0, count) cut into a part per core.
void on_all_cores(std::size_t count, auto&& work) {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cores; ++i)
        threads.emplace_back([&, i] { work(count * i / cores, count * (i + 1) / cores); });
}

// Fills in what a structure answers and how fast. `one` answers for one key; `many`, for keys [first, last) of a
// set, writes to answers.
row measure(row out, const keys_type& present, const keys_type& absent, auto&& one, auto&& many) {
    for (const std::uint64_t key : present) out.false_negatives += !one(key);
    std::size_t found = 0;
    const double single = seconds_of([&] {
        for (const std::uint64_t key : absent) found += one(key);
    });
    out.false_positives = found;
    const auto answers = std::make_unique<bool[]>(absent.size());
    const double batch = seconds_of([&] { many(absent, 0, absent.size(), answers.get()); });
    const double cores = seconds_of([&] {
        on_all_cores(absent.size(), [&](std::size_t first, std::size_t last) {
            many(absent, first, last, answers.get() + first); //
        });
    });
    const double millions = static_cast<double>(absent.size()) / 1e6;
    out.single_mops = millions / single;
    out.batch_mops = millions / batch;
    out.cores_mops = millions / cores;
    return out;
}

template <class F>
row measure_filter(const keys_type& present, const keys_type& absent, double rate) {
    auto made = bouncer::keyed<F>::create({.keys = present.size(), .false_positive_rate = rate});
    if (!made) {
        std::fprintf(stderr, "bouncer_demo: %s\n", made.error().message.c_str());
        std::exit(2);
    }
    auto& filter = *made;
    row out;
    out.name = "atomic_" + std::string(F::kind_name);
    out.bytes = filter.size_bytes();
    out.promised = rate;
    const double adding = seconds_of([&] { filter.add_batch(present); });
    out.add_mops = static_cast<double>(present.size()) / 1e6 / adding;
    return measure(
        std::move(out), present, absent, [&](std::uint64_t key) { return filter.may_contain(key); },
        [&](const keys_type& keys, std::size_t first, std::size_t last, bool* answers) {
            filter.may_contain(std::span(keys).subspan(first, last - first),
                               std::span(answers, last - first));
        });
}

// What the heap has given out, with its own overhead.
std::uint64_t heap_bytes() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

row measure_exact_set(const keys_type& present, const keys_type& absent) {
    const std::uint64_t before = heap_bytes();
    std::unordered_set<std::uint64_t> set;
    set.reserve(present.size());
    row out;
    out.name = "std::unordered_set";
    const double adding = seconds_of([&] {
        for (const std::uint64_t key : present) set.insert(key);
    });
    out.bytes = heap_bytes() - before;
    out.add_mops = static_cast<double>(present.size()) / 1e6 / adding;
    out = measure(
        std::move(out), present, absent, [&](std::uint64_t key) { return set.contains(key); },
        [&](const keys_type& keys, std::size_t first, std::size_t last, bool* answers) {
            for (std::size_t i = first; i < last; ++i) answers[i - first] = set.contains(keys[i]);
        });
    out.batch_mops = 0;
    return out;
}

std::string percent(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g %%", 100 * value);
    return text;
}

void print(const row& r, std::size_t present, std::size_t absent) {
    char batch[32] = "-";
    if (r.batch_mops > 0) std::snprintf(batch, sizeof batch, "%.1f", r.batch_mops);
    std::printf("%-24s %8.2f %8.2f %9s %9s %9zu %8.1f %10.1f %9s %9.1f\n", r.name.c_str(),
                static_cast<double>(r.bytes) / (1 << 20),
                8 * static_cast<double>(r.bytes) / static_cast<double>(present),
                r.promised > 0 ? percent(r.promised).c_str() : "exact",
                percent(static_cast<double>(r.false_positives) / static_cast<double>(absent)).c_str(),
                r.false_negatives, r.add_mops, r.single_mops, batch, r.cores_mops);
}

constexpr const char* help =
    "usage: bouncer_demo [--keys N] [--fpr R]\n"
    "  --keys N  keys in all, half of them added (2 to 1000000000; default 4000000)\n"
    "  --fpr R   the promised false-positive rate (above 0, below 1; default 0.01)\n";

[[noreturn]] void refuse(const std::string& why) {
    std::fprintf(stderr, "bouncer_demo: %s\n%s", why.c_str(), help);
    std::exit(2);
}

template <class Number>
Number number_from(const std::string& name, std::string_view text, Number least, Number most) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || !(value >= least) || !(value <= most))
        refuse(name + " must be a number from " + std::to_string(least) + " to " + std::to_string(most) +
               ", and is " + std::string(text));
    return value;
}

int run(std::uint64_t keys, double rate) {
    // Numbers without an order that a hash set could profit from; an odd multiplier repeats none.
    const auto key = [](std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15u; };
    keys_type present(keys / 2);
    keys_type absent(keys - keys / 2);
    for (std::size_t i = 0; i < present.size(); ++i) present[i] = key(i);
    for (std::size_t i = 0; i < absent.size(); ++i) absent[i] = key(present.size() + i);

    const row rows[] = {measure_filter<bouncer::atomic_blocked_bloom>(present, absent, rate),
                        measure_filter<bouncer::atomic_bloom>(present, absent, rate),
                        measure_exact_set(present, absent)};
    std::printf("%zu keys added, %zu other keys asked for; %u cores, kernels: %s\n\n", present.size(),
                absent.size(), std::thread::hardware_concurrency(),
                std::string(bouncer::active_instruction_set()).c_str());
    std::printf("%-24s %8s %8s %9s %9s %9s %8s %30s\n", "", "", "bits per", "promised", "measured", "false",
                "add", "query, million per second");
    std::printf("%-24s %8s %8s %9s %9s %9s %8s %10s %9s %9s\n", "", "MiB", "key", "FPR", "FPR", "negatives",
                "M/s", "one by one", "in batch", "all cores");
    std::size_t false_negatives = 0;
    for (const row& each : rows) {
        print(each, present.size(), absent.size());
        false_negatives += each.false_negatives;
    }
    std::printf("\nA filter answers \"definitely not\" or \"maybe\"; a false negative would be a defect.\n");
    return false_negatives == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::uint64_t keys = 4'000'000;
    double rate = 0.01;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--help") return std::fputs(help, stdout), 0;
        if (name != "--keys" && name != "--fpr") refuse("unknown argument " + name);
        if (++i == argc) refuse(name + " needs a value");
        if (name == "--keys")
            keys = number_from<std::uint64_t>(name, argv[i], 2, 1'000'000'000);
        else
            rate = number_from<double>(name, argv[i], 0.0, 1.0);
    }
    try {
        return run(keys, rate);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "bouncer_demo: no memory for %llu keys\n",
                     static_cast<unsigned long long>(keys));
        return 2;
    }
}
