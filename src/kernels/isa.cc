#include <bouncer/detail/kernels.h>
#include <bouncer/instruction_set.h>

#include "kernels/tables.h"

#include <cstdlib>

namespace bouncer::detail {

namespace {

constexpr kernel_table no_kernels;

bool processor_has([[maybe_unused]] isa which) noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (which) {
    case isa::scalar: return true;
    case isa::avx2: return __builtin_cpu_supports("avx2") != 0;
    case isa::avx512:
        return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
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

} // namespace bouncer::detail

std::string_view bouncer::active_instruction_set() noexcept {
    return detail::name_of(detail::active_isa());
}
