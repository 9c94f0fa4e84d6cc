// The instruction sets that SIMD code is written for, and the one in use.
#pragma once

#include <cstdint>
#include <string_view>

namespace bouncer::detail {

// BOUNCER_ISA=scalar|avx2|avx512 in the environment forces one, for tests (not for single keys in code
// that is compiled for AVX2 itself); one that the processor lacks, or a word
// that is not in this list, is passed over. avx2 means BMI2 and POPCNT too, which every processor with AVX2 has.
enum class isa : std::uint8_t { scalar, avx2, avx512 };

// [any-thread] Whether this processor, and this build, can run it.
bool processor_has(isa which) noexcept;
// [any-thread] The one in use: decided at the first call, the same ever after.
isa active_isa() noexcept;

constexpr std::string_view name_of(isa which) noexcept {
    switch (which) {
    case isa::scalar: return "scalar";
    case isa::avx2: return "avx2";
    case isa::avx512: return "avx512";
    }
    return "unknown";
}

} // namespace bouncer::detail
