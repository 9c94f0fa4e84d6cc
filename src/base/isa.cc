#include <bouncer/detail/isa.h>
#include <bouncer/instruction_set.h>

#include <cstdlib>

namespace bouncer::detail {

namespace {

#if defined(__x86_64__)
bool has_avx2() noexcept {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
#endif

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

bool processor_has([[maybe_unused]] isa which) noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (which) {
    case isa::scalar: return true;
    case isa::avx2: return has_avx2();
    case isa::avx512:
        return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
               __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0;
    }
    return false;
#else
    return which == isa::scalar;
#endif
}

isa active_isa() noexcept {
    static const isa chosen = choose();
    return chosen;
}

} // namespace bouncer::detail

std::string_view bouncer::active_instruction_set() noexcept {
    return detail::name_of(detail::active_isa());
}
