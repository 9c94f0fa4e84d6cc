#include <bouncer/detail/kernels.h>
#include <bouncer/detail/one_key.h>
#include <bouncer/instruction_set.h>

#include "kernels/tables.h"

#include <cstdlib>

namespace bouncer::detail {

namespace {

// No kernels, only the specification for single keys.
template <std::size_t Lines>
bool covers_by_specification(const std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_cover(block, hash, Lines);
}
template <std::size_t Lines>
bool set_by_specification(std::uint64_t* block, std::uint64_t hash) noexcept {
    return lanes_set(block, hash, Lines);
}
constexpr kernel_table no_kernels{.lanes8_covers = covers_by_specification<1>,
                                  .lanes16_covers = covers_by_specification<2>,
                                  .lanes8_set = set_by_specification<1>,
                                  .lanes16_set = set_by_specification<2>};

#if defined(__x86_64__)
bool has_avx2() noexcept {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
#endif

bool processor_has([[maybe_unused]] isa which) noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (which) {
    case isa::scalar: return true;
    case isa::avx2: return has_avx2();
    case isa::avx512:
        return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
               __builtin_cpu_supports("avx512dq") != 0;
    }
    return false;
#else
    return which == isa::scalar;
#endif
}

isa choose() noexcept {
    if (const char* forced = std::getenv("BOUNCER_ISA"); forced != nullptr) {
        for (const isa which : {isa::scalar, isa::avx2, isa::avx512})
            if (name_of(which) == forced && processor_has(which)) return which;
    }
    for (const isa which : {isa::avx512, isa::avx2})
        if (processor_has(which)) return which;
    return isa::scalar;
}

} // namespace

isa active_isa() noexcept {
    static const isa chosen = choose();
    return chosen;
}

const kernel_table* kernels_of(isa which) noexcept {
    if (!processor_has(which)) return nullptr;
    switch (which) {
    case isa::scalar: return &no_kernels;
#if defined(__x86_64__)
    case isa::avx2: return &avx2_kernels;
    case isa::avx512: return &avx512_kernels;
#else
    default: return nullptr;
#endif
    }
    return nullptr;
}

const kernel_table& active_kernels() noexcept {
    static const kernel_table& table = *kernels_of(active_isa());
    return table;
}

namespace {

// Puts the table's function in its own place, the same from every thread, and goes on there.
template <auto& Active, auto Entry, class Word>
bool find(Word* block, std::uint64_t hash) noexcept {
    const auto found = active_kernels().*Entry;
    Active.store(found, std::memory_order_relaxed);
    return found(block, hash);
}

} // namespace

constinit std::atomic<cover_function> active_lanes8_covers =
    find<active_lanes8_covers, &kernel_table::lanes8_covers, const std::uint64_t>;
constinit std::atomic<cover_function> active_lanes16_covers =
    find<active_lanes16_covers, &kernel_table::lanes16_covers, const std::uint64_t>;
constinit std::atomic<set_function> active_lanes8_set =
    find<active_lanes8_set, &kernel_table::lanes8_set, std::uint64_t>;
constinit std::atomic<set_function> active_lanes16_set =
    find<active_lanes16_set, &kernel_table::lanes16_set, std::uint64_t>;

} // namespace bouncer::detail

std::string_view bouncer::active_instruction_set() noexcept {
    return detail::name_of(detail::active_isa());
}
