// Whether a rebuild may start: its memory, and its failures in words.
#pragma once

#include <bouncer/region.h>
#include <bouncer/result.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace bouncer::detail {

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// [any-thread] too_large if old and new exceed the budget; out_of_memory if the new one exceeds what is left.
// Both sizes are named.
result<void> check_rebuild_memory(std::uint64_t old_bytes, std::uint64_t new_bytes,
                                  std::uint64_t budget_bytes, std::uint64_t left_bytes);

// [any-thread] full. `announced` of 0 and no rate are left out.
failure too_many_keys(std::uint64_t inside, std::uint64_t most, std::uint64_t announced,
                      std::optional<double> rate);

// [any-thread] What the exception being handled says: out_of_memory for std::bad_alloc, the code of a bad_result, io
// for all others. `who` is "the source", …
failure failure_of_exception(const char* who);

} // namespace bouncer::detail
