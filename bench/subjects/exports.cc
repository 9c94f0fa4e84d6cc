// The functions that the program finds in this shared object by name.
#include "lists.h"

#include <vector>

#if !BOUNCER_BENCH_NATIVE && defined(__AVX2__)
#error "the baseline build must not be compiled for AVX2: take -march out of the compiler flags"
#endif

namespace bench {
namespace {

std::vector<subject_type> all_subjects() {
    std::vector<subject_type> all;
    for (const auto list : {bouncer_subjects(), peer_subjects()})
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

} // namespace
} // namespace bench

extern "C" __attribute__((visibility("default"))) const bench::subject_list* bouncer_bench_subjects() {
    static const auto all = bench::all_subjects();
    static const bench::subject_list list{all.data(), all.size(), BOUNCER_BENCH_NATIVE != 0};
    return &list;
}
