// scalable_bloom from 10k to 100M keys at 1 %: rates and bits per key along the way, queries at the end against one
// filter of the right size, and two threads that add across growths against one.
#include "figure_support.h"

#include <bouncer/scalable.h>

#include <algorithm>
#include <thread>

namespace bench {
namespace {

constexpr std::uint64_t first_keys = 10'000;
constexpr std::uint64_t keys_at_end = 100'000'000;

bouncer::atomic_scalable_bloom new_chain() {
    return value_of(bouncer::atomic_scalable_bloom::create(
        bouncer::goal{.keys = first_keys, .false_positive_rate = usual_rate}));
}

double bits_per_key(std::uint64_t bytes, std::uint64_t keys) {
    return 8 * static_cast<double>(bytes) / static_cast<double>(keys);
}

struct curve {
    double worst_fpr = 0;
    double worst_bits_full = 0;   // when the newest layer is full
    double worst_bits_beyond = 0; // at any moment beyond 1M keys
    std::vector<row> rows;
};

// Adds key after key, in steps of a hundredth of what is there, and looks after each.
curve grow(bouncer::atomic_scalable_bloom& chain) {
    curve out;
    std::uint64_t keys = 0;
    std::uint64_t size_before = chain.size_bytes();
    std::uint64_t keys_before = 0;
    std::uint32_t layers = chain.layer_count();
    while (keys < keys_at_end) {
        const std::uint64_t step = std::clamp<std::uint64_t>(keys / 100, 100, 100'000);
        chain.add_batch(some_present(keys, static_cast<std::size_t>(std::min(step, keys_at_end - keys))));
        keys = std::min(keys + step, keys_at_end);
        const std::uint64_t size = chain.size_bytes();
        if (keys > 1'000'000)
            out.worst_bits_beyond = std::max(out.worst_bits_beyond, bits_per_key(size, keys));
        if (chain.layer_count() == layers) {
            size_before = size;
            keys_before = keys;
            continue;
        }
        // The layers but the newest, which were full somewhere in this step.
        std::uint64_t full = 0;
        for (std::uint32_t i = 0; i < layers; ++i) full += chain.layer(i).size_bytes();
        row each = figure_row("growth.boundary", "scalable_bloom", keys_before, {});
        each.fpr_promised = usual_rate;
        each.fpr_measured = measured_fpr(chain, 2'000'000);
        each.bits_per_key = bits_per_key(full, std::max<std::uint64_t>(keys_before, 1));
        each.note = "layers " + std::to_string(layers) + "; bits/key " +
                    std::to_string(bits_per_key(size_before, std::max<std::uint64_t>(keys_before, 1))) +
                    " before and " + std::to_string(bits_per_key(size, keys)) + " after growing";
        out.worst_fpr = std::max(out.worst_fpr, each.fpr_measured);
        out.worst_bits_full = std::max(out.worst_bits_full, each.bits_per_key);
        out.rows.push_back(std::move(each));
        layers = chain.layer_count();
    }
    out.worst_fpr = std::max(out.worst_fpr, measured_fpr(chain, 2'000'000));
    return out;
}

double ns_of_adding(const std::vector<std::uint64_t>& hashes, unsigned threads) {
    auto chain = new_chain();
    const double wall = wall_of([&] {
        std::vector<std::jthread> running;
        for (unsigned t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                const std::size_t each = hashes.size() / threads;
                std::span<const std::uint64_t> mine = std::span(hashes).subspan(t * each, each);
                for (; !mine.empty(); mine = mine.subspan(std::min<std::size_t>(4096, mine.size())))
                    chain.add_batch(mine.first(std::min<std::size_t>(4096, mine.size())));
            });
    });
    return wall / static_cast<double>(hashes.size());
}

} // namespace

figure_set growth_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    const bool grows = wanted("growth.fpr") || wanted("growth.bits_full") || wanted("growth.bits_worst") ||
                       wanted("growth.layers") || wanted("growth.query");
    const bool races = wanted("growth.two_threads");
    if (!grows && !races) return out;
    if (chosen.max_bytes < std::uint64_t{400} << 20) {
        out.note = "unmeasured: --max-bytes is below the 400 MiB of 100M keys";
        return out;
    }
    if (grows) {
        auto chain = new_chain();
        curve found = grow(chain);
        out.values["growth.fpr"] = {found.worst_fpr, 0, 0};
        out.values["growth.bits_full"] = {found.worst_bits_full, 0, 0};
        out.values["growth.bits_worst"] = {found.worst_bits_beyond, 0, 0};
        out.values["growth.layers"] = {static_cast<double>(chain.layer_count()), 0, 0};
        out.rows = std::move(found.rows);
        if (wanted("growth.query")) {
            auto one = value_of(bouncer::atomic_blocked_bloom::create(
                bouncer::goal{.keys = keys_at_end, .false_positive_rate = usual_rate}));
            for (std::uint64_t first = 0; first < keys_at_end; first += 1'000'000)
                one.add_batch(some_present(first, 1'000'000));
            const auto queries = half_hits(keys_at_end, 4'000'000);
            const answer_space answers(queries.size());
            const auto each = [&](const auto& filter) {
                return time_of([&] { filter.may_contain(queries, answers.span()); }) /
                       static_cast<double>(queries.size());
            };
            const two_times times = in_turns(
                std::min(chosen.repeat, 9u), [&] { return each(chain); }, [&] { return each(one); });
            out.values["growth.query"] = paired_ratio(times.first, times.second);
            // The same in batches that are too small to be put into order.
            const auto in_batches = [&](const auto& filter) {
                constexpr std::size_t batch = 65'536;
                return time_of([&] {
                           for (std::size_t first = 0; first + batch <= queries.size(); first += batch)
                               filter.may_contain(std::span(queries).subspan(first, batch), answers.span());
                       }) /
                       static_cast<double>(queries.size() / batch * batch);
            };
            const two_times small = in_turns(
                std::min(chosen.repeat, 9u), [&] { return in_batches(chain); },
                [&] { return in_batches(one); });
            out.rows.push_back(
                figure_row("growth.query_batch_64k", "scalable_bloom", keys_at_end, small.first));
            out.rows.back().note =
                std::to_string(paired_ratio(small.first, small.second).median) + " times one blocked_bloom";
            out.rows.push_back(figure_row("growth.query_batch", "scalable_bloom", keys_at_end, times.first));
            out.rows.push_back(
                figure_row("growth.query_batch_of_one", "blocked_bloom", keys_at_end, times.second));
        }
    }
    if (races) {
        const auto hashes = some_present(0, 20'000'000);
        const two_times times = in_turns(
            std::min(chosen.repeat, 7u), [&] { return ns_of_adding(hashes, 2); },
            [&] { return ns_of_adding(hashes, 1); });
        out.values["growth.two_threads"] = paired_ratio(times.second, times.first);
        out.rows.push_back(figure_row("growth.add_batch.t2", "scalable_bloom", hashes.size(), times.first));
        out.rows.back().threads = 2;
        out.rows.push_back(figure_row("growth.add_batch", "scalable_bloom", hashes.size(), times.second));
    }
    return out;
}

} // namespace bench
