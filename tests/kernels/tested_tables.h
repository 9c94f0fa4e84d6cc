// The kernel tables under test: kernels_tests has those that this processor can run, imitated_tests the imitated ones.
#pragma once

#include <bouncer/detail/kernels.h>

#include <string>
#include <vector>

namespace bouncer::test {

struct named_table {
    std::string name;
    const detail::kernel_table* table;
    unsigned share; // of the random keys one in so many: an imitated instruction takes many
};

// Filled by the files of imitated/ before main(); empty in a program without them.
inline std::vector<named_table>& imitated_tables() {
    static std::vector<named_table> tables;
    return tables;
}

inline std::vector<named_table> all_tables() {
    std::vector<named_table> out = imitated_tables();
    if (!out.empty()) return out;
    for (const auto which : {detail::isa::scalar, detail::isa::avx2, detail::isa::avx512})
        if (const detail::kernel_table* const table = detail::kernels_of(which); table != nullptr)
            out.push_back({std::string(detail::name_of(which)), table, 1});
    return out;
}

} // namespace bouncer::test
