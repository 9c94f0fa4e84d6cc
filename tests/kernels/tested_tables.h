// The kernel tables under test: kernels_tests has those that this processor can run, imitated_tests the imitated ones.
#pragma once

#include <bouncer/detail/bit_ops.h>
#include <bouncer/detail/cell_ops.h>

#include <string>
#include <vector>

namespace bouncer::test {

struct named_table {
    std::string name;
    const detail::bit_ops_table* bits;
    const detail::cell_ops_table* cells;
};

// Filled by the files of imitated/ before main(); empty in a program without them.
inline std::vector<named_table>& imitated_tables() {
    static std::vector<named_table> tables;
    return tables;
}

// Of the random keys one in so many: an imitated instruction takes many.
inline unsigned share() {
    return imitated_tables().empty() ? 1 : 8;
}

inline std::vector<named_table> all_tables() {
    std::vector<named_table> out = imitated_tables();
    if (!out.empty()) return out;
    for (const auto which : {detail::isa::scalar, detail::isa::avx2, detail::isa::avx512})
        if (const detail::bit_ops_table* const bits = detail::bit_ops_of(which); bits != nullptr)
            out.push_back({std::string(detail::name_of(which)), bits, detail::cell_ops_of(which)});
    return out;
}

} // namespace bouncer::test
