// What every union refuses, in one place and compiled once.
#pragma once

#include <bouncer/result.h>

#include <string_view>

namespace bouncer::detail {

// [any-thread] A limit for merge_if_within lies between 0 and 1 (invalid_argument).
result<void> check_union_limit(double rate);
// [any-thread] The union's rate keeps the limit (full).
result<void> check_union_rate(double after, double limit);
// [any-thread] Why two filters whose parameters differ have no union (mismatch).
failure unlike_parameters(std::string_view mine, std::string_view theirs);

} // namespace bouncer::detail
