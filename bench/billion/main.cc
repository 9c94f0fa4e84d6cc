// A static filter of more keys than memory holds: built from a stream with a memory cap, checked, and its figures told.
// Usage: bouncer_billion KEYS CAP_MIB [ribbon | binary_fuse | xor_filter [FOLDER]]
// Exit code 1 when a key is missing, the rate is 5 sigma off, or the peak of memory is more than a tenth above the cap or
// cannot be measured.
#include "../figure_support.h"

#include <bouncer/any_filter.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

constexpr double rate = 1.0 / 256;

bouncer::hash_source present_keys(std::uint64_t keys) {
    return [keys,
            given = std::uint64_t{0}](std::span<std::uint64_t> into) mutable -> bouncer::result<std::size_t> {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), keys - given));
        bench::present_hashes(given, into.first(some));
        given += some;
        return some;
    };
}

// Every key of a run that begins at `first`.
bool all_found(const bouncer::any_filter& filter, std::uint64_t first, std::uint64_t count) {
    constexpr std::size_t piece = 1 << 20;
    const bench::answer_space answers(piece);
    for (std::uint64_t done = 0; done < count; done += piece) {
        const auto hashes = bench::some_present(
            first + done, static_cast<std::size_t>(std::min<std::uint64_t>(piece, count - done)));
        if (filter.may_contain(hashes, answers.span()) != hashes.size()) return false;
    }
    return true;
}

// What the kernel's count of resident memory may be off by: it keeps up to max(32, 2 x processors) pages of it for each
// processor, 32 MiB with 64 of them.
double count_error_mib() {
    const auto processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_CONF));
    const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return processors * std::max(32.0, 2 * processors) * page_bytes / (1 << 20);
}

int run(std::uint64_t keys, std::uint64_t cap_mib, const std::string& kind, const std::string& folder) {
    bouncer::result<bouncer::any_filter> made = bouncer::failure{bouncer::error_code::io, "not run"};
    double wall = 0;
    const auto peak = bench::extra_mib([&] {
        wall = bench::wall_of([&] {
            made = bouncer::any_filter::build(present_keys(keys), {.false_positive_rate = rate},
                                              {.memory_cap_bytes = cap_mib << 20, .temporary_folder = folder},
                                              kind);
        });
    });
    if (!made) {
        std::fprintf(stderr, "bouncer_billion: %s\n", made.error().message.c_str());
        return 2;
    }
    const auto n = static_cast<double>(keys);
    const double bits = static_cast<double>(made->size_bytes()) * 8 / n;
    constexpr std::size_t queries = 10'000'000;
    const double expected = made->expected_fpr().value();
    const double fpr = bench::measured_fpr(*made, queries);
    const double sigma = (fpr - expected) / std::sqrt(expected * (1 - expected) / queries);
    const bool found = all_found(*made, 0, keys);
    std::printf("%s of %llu keys, memory cap %llu MiB\n", kind.c_str(), static_cast<unsigned long long>(keys),
                static_cast<unsigned long long>(cap_mib));
    std::printf("built in           %.1f s, %.1f ns per key\n", wall / 1e9, wall / n);
    const auto cap = static_cast<double>(cap_mib);
    if (peak)
        std::printf("peak of memory     %.0f MiB, %.3f of the cap\n", *peak, *peak / cap);
    else
        std::printf("peak of memory     unmeasured: /proc/self does not tell it\n");
    std::printf("bits per key       %.4f, %.5f of log2(1/p)\n", bits, bits / -std::log2(rate));
    std::printf("false positives    %.7f, expected %.7f, %.2f sigma\n", fpr, expected, sigma);
    std::printf("keys not found     %s\n", found ? "0" : "some: WRONG");
    const bool kept = peak && *peak <= 1.1 * cap + count_error_mib();
    const bool good = found && std::abs(sigma) <= 5 && kept;
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 5) {
        std::fprintf(stderr,
                     "usage: bouncer_billion KEYS CAP_MIB [ribbon | binary_fuse | xor_filter [FOLDER]]\n");
        return 2;
    }
    const std::uint64_t keys = std::strtoull(argv[1], nullptr, 10);
    const std::uint64_t cap_mib = std::strtoull(argv[2], nullptr, 10);
    if (keys == 0 || cap_mib == 0 || cap_mib > std::uint64_t{1} << 24) {
        std::fprintf(stderr, "bouncer_billion: KEYS and CAP_MIB must be numbers from 1 on\n");
        return 2;
    }
    return run(keys, cap_mib, argc > 3 ? argv[3] : "ribbon", argc > 4 ? argv[4] : "");
}
