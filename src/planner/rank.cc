#include <bouncer/detail/format.h>
#include <bouncer/math.h>
#include <bouncer/planner.h>

#include "planner/asked.h"
#include "planner/cost.h"
#include "planner/kinds.h"

#include <algorithm>
#include <cmath>

namespace bouncer::planner {

namespace {

using detail::scientific;

// Why a kind does not serve, whatever its size.
std::string lacking(const abilities& can, const abilities& needs) {
    if (needs.remove && !can.remove) return "cannot remove single keys";
    if (needs.grow && !can.grow) return "does not grow";
    if (needs.merge && !can.merge) return "cannot be merged";
    if (needs.fold && !can.fold) return "cannot be folded";
    if (needs.forget && !can.forget) return "does not forget";
    if (needs.concurrent && !can.concurrent) return "is for one thread that adds";
    if (needs.exact && !can.exact) return "is not exact";
    if (!needs.forget && can.forget) return "forgets old keys";
    if (needs.add && !can.add) return "takes no further keys: it is built once";
    if (!needs.fixed && !can.add) return "is static: built once from the whole set";
    return {};
}

result<candidate> solve(const kind_entry& kind, const goal& wanted, const wishes& all) {
    return unless_no_memory(all.k ? kind.solve_k(wanted, *all.k) : kind.solve(wanted, all.keys_today));
}

// The most keys that keep a rate in a size, to 0.05 %: about as close as sizes are.
result<candidate> most_keys(const kind_entry& kind, double rate, std::uint64_t size, const wishes& all) {
    const auto try_keys = [&](std::uint64_t keys) {
        return solve(kind, {.keys = keys, .false_positive_rate = rate, .prefer = all.prefer}, all);
    };
    result<candidate> good = try_keys(1);
    if (!good) return good;
    if (good->size_bytes > size)
        return failure{error_code::too_large,
                       "needs " + std::to_string(good->size_bytes) + " bytes for one key"};
    std::uint64_t bad = keys_most + 1;
    auto next = static_cast<std::uint64_t>(std::clamp(
        8 * static_cast<double>(size) / (1.44 * math::lower_bound_bits_per_key(rate)), 2.0, 0x1p47));
    for (int step = 0; step < 100 && bad - good->keys > good->keys / 2000 + 1; ++step) {
        next = std::clamp(next, good->keys + 1, bad - 1);
        auto tried = try_keys(next);
        const bool fits = tried && tried->size_bytes <= size;
        // Sizes are nearly in proportion to keys: aim at the size itself, a little to the other side; halve when that
        // does not close in.
        double aim = 0;
        if (tried)
            aim = static_cast<double>(next) *
                  (static_cast<double>(size) / static_cast<double>(tried->size_bytes)) *
                  (fits ? 1.0002 : 0.9998);
        if (fits)
            good = std::move(tried);
        else
            bad = next;
        const std::uint64_t middle = good->keys + (bad - good->keys) / 2;
        next = aim > 0 && step % 4 != 3 ? static_cast<std::uint64_t>(aim) : middle;
    }
    return good;
}

result<candidate> answer(const kind_entry& kind, const asked& what, const wishes& all) {
    if (!what.keys) return most_keys(kind, *what.rate, *what.size_bytes, all);
    goal wanted{.keys = *what.keys, .false_positive_rate = what.rate, .prefer = all.prefer};
    if (!what.rate) wanted.size_bytes = what.size_bytes;
    return solve(kind, wanted, all);
}

// Where a rate, keys and a size are all given, the size is a bound.
std::string too_large_for(const candidate& one, const asked& what) {
    if (!what.keys || !what.rate || !what.size_bytes || one.size_bytes <= *what.size_bytes) return {};
    if (what.from_bits)
        return "needs " + scientific(one.bits_per_key) + " bits per key, above " +
               scientific(8 * static_cast<double>(*what.size_bytes) / static_cast<double>(*what.keys));
    return "needs " + std::to_string(one.size_bytes) + " bytes, above " + std::to_string(*what.size_bytes);
}

// A format of others may size by the textbook formula, and miss its rate by a little: 0.4 % of it at 1 %. More is refused.
std::string misses_rate(const candidate& one, const asked& what) {
    if (!what.rate || one.rate <= *what.rate * (one.can.foreign ? 1.05 : 1 + 1e-6)) return {};
    return "has a rate of " + scientific(one.rate) + ", above " + scientific(*what.rate);
}

// Nobody is suited: the wishes contradict each other, or no kind can all that.
failure nobody(const std::vector<candidate>& all, const asked& what) {
    const candidate* closest = nullptr;
    for (const candidate& each : all)
        if (each.cost > 0 && !each.can.foreign &&
            (closest == nullptr || each.size_bytes < closest->size_bytes))
            closest = &each;
    if (closest != nullptr && what.rate && what.keys && what.size_bytes)
        return {error_code::too_large,
                std::to_string(*what.keys) + " keys at a rate of " + scientific(*what.rate) +
                    " do not fit into " + std::to_string(*what.size_bytes) +
                    " bytes: the smallest suited kind, " + std::string(closest->kind) + ", needs " +
                    std::to_string(closest->size_bytes) + ", and no filter can do with less than " +
                    std::to_string(static_cast<std::uint64_t>(std::ceil(
                        math::lower_bound_bits_per_key(*what.rate) * static_cast<double>(*what.keys) / 8)))};
    std::string reasons;
    for (const candidate& each : all)
        reasons += (reasons.empty() ? "" : "; ") + std::string(each.kind) + " " + each.why_not;
    return {error_code::invalid_argument, "no kind serves these wishes: " + reasons};
}

} // namespace

result<std::vector<candidate>> rank(const wishes& wanted) {
    return detail::guarded([&]() -> result<std::vector<candidate>> {
        const auto what = complete(wanted);
        if (!what) return what.error();
        std::vector<candidate> out;
        for (const kind_entry& kind : kind_entries()) {
            auto made = answer(kind, *what, wanted);
            candidate one;
            std::string why_not = lacking(kind.can, wanted.needs);
            if (made) {
                one = std::move(*made);
                // Of the suited kinds only: nobody() names the smallest of these.
                if (why_not.empty()) {
                    one.cost = cost_of(one, wanted.prefer, what->rate.value_or(one.rate),
                                       static_cast<double>(what->keys ? one.size_bytes : *what->size_bytes));
                    why_not = too_large_for(one, *what);
                    if (why_not.empty()) why_not = misses_rate(one, *what);
                }
            } else {
                if (why_not.empty() || kind.can.exact) why_not = made.error().message;
            }
            one.kind = kind.name;
            one.can = kind.can;
            one.why_not = std::move(why_not);
            out.push_back(std::move(one));
        }
        if (std::none_of(out.begin(), out.end(), [](const candidate& c) { return c.why_not.empty(); }))
            return nobody(out, *what);
        // Where keys are what is solved for, more of them are better, not fewer bytes.
        const bool most = wanted.prefer == prefer::space && !what->keys;
        const bool best = wanted.prefer == prefer::space && !what->rate;
        const auto value = [&](const candidate& one) {
            const double worse = one.can.foreign ? 1.02 : 1; // for interchange: behind an equal of ours
            if (most) return -static_cast<double>(one.keys) / worse;
            return worse * (best ? one.rate : one.cost);
        };
        std::stable_sort(out.begin(), out.end(), [&](const candidate& a, const candidate& b) {
            if (a.why_not.empty() != b.why_not.empty()) return a.why_not.empty();
            return a.why_not.empty() && value(a) < value(b);
        });
        return out;
    });
}

} // namespace bouncer::planner
