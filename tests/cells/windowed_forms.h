// Every form of windowed_bloom, sized for the tests.
#pragma once

#include <bouncer/windowed_bloom.h>

#include <vector>

namespace bouncer::test {

inline std::vector<windowed_bloom_parameters> windowed_forms(std::uint64_t keys, double rate) {
    std::vector<windowed_bloom_parameters> out;
    for (const auto form : {cell_form::two_lines, cell_form::flat})
        for (std::uint32_t live = 2; live <= 7; ++live)
            out.push_back(
                plain_windowed_bloom::solve({.keys = keys, .false_positive_rate = rate}, live, form).value());
    return out;
}

} // namespace bouncer::test
