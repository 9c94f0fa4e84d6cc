// Which SIMD kernels this process uses.
#pragma once

#include <string_view>

namespace bouncer {

// [any-thread] "scalar", "avx2" or "avx512": the best that the processor has, or what BOUNCER_ISA in the environment
// asks for. Decided at the first use of a filter, the same ever after.
std::string_view active_instruction_set() noexcept;

} // namespace bouncer
