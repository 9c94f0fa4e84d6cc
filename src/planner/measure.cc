#include <bouncer/any_filter.h>
#include <bouncer/detail/bits.h>
#include <bouncer/planner.h>

#include "planner/kinds.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <vector>

namespace bouncer::planner {

namespace {

// A stream of distinct numbers: mix64 is a bijection, and two streams with different counters share none.
class distinct_hashes {
  public:
    distinct_hashes(std::uint64_t seed, std::uint64_t start) : offset_(detail::mix64(seed)), next_(start) {}
    void fill(std::vector<std::uint64_t>& out) {
        for (std::uint64_t& each : out) each = detail::mix64(offset_ + next_++);
    }

  private:
    std::uint64_t offset_;
    std::uint64_t next_;
};

constexpr std::uint64_t absent_start = std::uint64_t{1} << 60;
// A stable filter is within a percent of its final rate once this many times its horizon were added.
constexpr std::uint64_t turnovers = 8;

// How a kind is filled the way its promise is meant: so many times so many keys, a rotation between.
struct filling {
    std::uint64_t times = 1;
    std::uint64_t keys = 0;
    bool rotates = false;
};

filling filling_of(const any_filter& filter, const abilities& can, std::uint64_t keys) {
    filling out{1, keys, false};
    filter.visit([&]<class F>(const F& held) {
        if constexpr (rotating<F>) {
            out.times = held.params().live; // all generations as full as one may become
            out.keys = (keys + out.times - 2) / (out.times - 1);
            out.rotates = true;
        } else if (can.forget) {
            out.times = turnovers;
        }
    });
    return out;
}

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
}

result<any_filter> made(const kind_entry& kind, const goal& wanted, std::uint64_t count, std::uint64_t seed,
                        double& ns_per_key) {
    distinct_hashes keys(seed, 0);
    std::vector<std::uint64_t> hashes(count);
    keys.fill(hashes);
    if (kind.can.fixed) {
        const auto begin = clock::now();
        auto out = any_filter::build(hashes, wanted, {.threads = 1}, kind.name);
        ns_per_key = 1e9 * seconds_since(begin) / static_cast<double>(wanted.keys);
        return out;
    }
    auto out = any_filter::create(kind.name, wanted);
    if (!out) return out;
    const filling how = filling_of(*out, kind.can, count);
    hashes.resize(how.keys);
    double seconds = 0;
    for (std::uint64_t time = 0; time < how.times; ++time) {
        if (time != 0) keys.fill(hashes);
        const auto begin = clock::now();
        if (auto ok = out->add_all(hashes, 1); !ok) return ok.error();
        seconds += seconds_since(begin);
        if (how.rotates && time + 1 < how.times)
            if (auto ok = out->rotate_to(time + 1); !ok) return ok.error();
    }
    ns_per_key = 1e9 * seconds / static_cast<double>(how.times * how.keys);
    return out;
}

} // namespace

result<measurement> measure(std::string_view kind, const goal& wanted, std::uint64_t questions, double fill,
                            std::uint64_t seed) {
    return detail::guarded([&]() -> result<measurement> {
        const kind_entry* const entry = find_kind(kind);
        if (entry == nullptr)
            return failure{error_code::invalid_argument, "there is no kind " + std::string(kind)};
        if (wanted.keys == 0)
            return failure{error_code::invalid_argument, "keys must be at least 1, and is 0"};
        if (!(fill > 0) || !(fill <= 1000))
            return failure{error_code::invalid_argument, "a fill is above 0 and at most 1000"};
        if (entry->can.fixed && fill != 1)
            return failure{error_code::unsupported,
                           std::string(kind) + " holds the keys it was built from, no others"};
        if (entry->can.exact)
            return failure{error_code::unsupported, std::string(kind) + " never errs within its universe"};
        const auto count =
            std::max<std::uint64_t>(1, static_cast<std::uint64_t>(fill * static_cast<double>(wanted.keys)));
        double ns_per_key = 0;
        auto filter = made(*entry, wanted, count, seed, ns_per_key);
        if (!filter) return filter.error();
        measurement out;
        out.keys = count;
        out.size_bytes = filter->size_bytes();
        out.bits_per_key = 8 * static_cast<double>(out.size_bytes) / static_cast<double>(wanted.keys);
        out.build_ns_per_key = ns_per_key;
        distinct_hashes absent(seed, absent_start);
        std::vector<std::uint64_t> chunk(4096);
        const auto answers = std::make_unique<bool[]>(chunk.size());
        while (out.asked < questions) {
            absent.fill(chunk);
            out.wrong += filter->may_contain(chunk, {answers.get(), chunk.size()});
            out.asked += chunk.size();
        }
        out.rate = out.asked == 0 ? 0 : static_cast<double>(out.wrong) / static_cast<double>(out.asked);
        return out;
    });
}

} // namespace bouncer::planner
