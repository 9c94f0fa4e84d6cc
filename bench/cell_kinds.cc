// counting_bloom and windowed_bloom against blocked_bloom: bytes at the same rate, and batches of queries.
#include "figure_support.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/counting_bloom.h>
#include <bouncer/windowed_bloom.h>

#include <algorithm>

namespace bench {
namespace {

bouncer::goal goal_for(std::uint64_t keys) {
    return {.keys = keys, .false_positive_rate = usual_rate};
}

// Queries of both, half of them hits, in turns.
template <class F, class G>
two_times query_both(unsigned rounds, std::uint64_t keys, const F& first, const G& second) {
    const auto queries = half_hits(keys, 2'000'000);
    const answer_space answers(queries.size());
    const auto each = [&](const auto& filter) {
        return time_of([&] { filter.may_contain(queries, answers.span()); }) /
               static_cast<double>(queries.size());
    };
    return in_turns(
        rounds, [&] { return each(first); }, [&] { return each(second); });
}

template <class F>
void fill(F& filter, std::uint64_t first, std::uint64_t last) {
    for (; first < last; first += 1'000'000)
        filter.add_batch(
            some_present(first, static_cast<std::size_t>(std::min<std::uint64_t>(1'000'000, last - first))));
}

void counting(const options& chosen, std::uint64_t keys, const std::string& name, figure_set& out) {
    auto counters = value_of(bouncer::atomic_counting_bloom::create(goal_for(keys)));
    auto bits = value_of(bouncer::atomic_blocked_bloom::create(goal_for(keys)));
    fill(counters, 0, keys);
    fill(bits, 0, keys);
    const two_times times = query_both(std::min(chosen.repeat, 15u), keys, counters, bits);
    out.values[name] = paired_ratio(times.first, times.second);
    out.rows.push_back(figure_row(name, "counting_bloom", keys, times.first));
    out.rows.back().fpr_promised = usual_rate;
    out.rows.back().fpr_measured = measured_fpr(counters, 2'000'000);
    out.rows.back().bits_per_key = 8 * static_cast<double>(counters.size_bytes()) / static_cast<double>(keys);
}

// A full window: as many keys in each of its seven generations as the rate allows.
template <class F>
void fill_window(F& filter, std::uint64_t keys) {
    const std::uint64_t each = keys / filter.window_steps();
    for (std::uint64_t step = 0; step < filter.params().live; ++step) {
        check(filter.rotate_to(step + 1));
        fill(filter, step * each, (step + 1) * each);
    }
}

double window_bits(bouncer::cell_form form, std::uint64_t keys) {
    const auto chosen = value_of(bouncer::atomic_windowed_bloom::solve(goal_for(keys), 7, form));
    return 8 * static_cast<double>(bouncer::atomic_windowed_bloom::size_bytes_of(chosen)) /
           static_cast<double>(keys);
}

void windowed(const options& chosen, std::uint64_t keys, const std::string& name, figure_set& out) {
    auto window = value_of(bouncer::atomic_windowed_bloom::create(goal_for(keys)));
    fill_window(window, keys);
    auto bits = value_of(bouncer::atomic_blocked_bloom::create(
        bouncer::blocked_bloom_parameters{window.size_bytes() / 64, 8, bouncer::block_form::lanes8}));
    fill(bits, 0, keys);
    const two_times times = query_both(std::min(chosen.repeat, 15u), keys, window, bits);
    out.values[name] = paired_ratio(times.first, times.second);
    out.rows.push_back(figure_row(name, "windowed_bloom", keys, times.first));
    out.rows.back().fpr_promised = usual_rate;
    out.rows.back().fpr_measured = measured_fpr(window, 2'000'000);
    out.rows.back().bits_per_key = 8 * static_cast<double>(window.size_bytes()) / static_cast<double>(keys);
}

} // namespace

figure_set cell_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    if (wanted("counting.bytes")) {
        const auto counters = value_of(bouncer::plain_counting_bloom::solve(goal_for(10 * million)));
        const auto bits = value_of(bouncer::plain_bloom::solve(goal_for(10 * million)));
        out.values["counting.bytes"] = {
            static_cast<double>(bouncer::plain_counting_bloom::size_bytes_of(counters)) /
                static_cast<double>(bouncer::plain_bloom::size_bytes_of(bits)),
            0, 0};
    }
    if (wanted("window.bits"))
        out.values["window.bits"] = {window_bits(bouncer::cell_form::two_lines, 10 * million), 0, 0};
    if (wanted("window.bits_flat"))
        out.values["window.bits_flat"] = {window_bits(bouncer::cell_form::flat, 10 * million), 0, 0};
    if (wanted("counting.query_1m")) counting(chosen, million, "counting.query_1m", out);
    if (wanted("counting.query_10m")) counting(chosen, 10 * million, "counting.query_10m", out);
    if (wanted("window.query_1m")) windowed(chosen, million, "window.query_1m", out);
    if (wanted("window.query_10m")) windowed(chosen, 10 * million, "window.query_10m", out);
    return out;
}

} // namespace bench
