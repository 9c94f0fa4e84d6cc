#include <bouncer/detail/unions.h>

#include <bouncer/detail/format.h>

#include <string>

namespace bouncer::detail {

result<void> check_union_limit(double rate) {
    return guarded([&]() -> result<void> {
        if (rate > 0 && rate < 1) return {};
        return failure{error_code::invalid_argument,
                       "the rate must lie between 0 and 1, and is " + scientific(rate)};
    });
}

result<void> check_union_rate(double after, double limit) {
    return guarded([&]() -> result<void> {
        if (!(after > limit)) return {};
        return failure{error_code::full, "the union would answer \"maybe\" to " + scientific(after) +
                                             " of absent keys, above the limit of " + scientific(limit)};
    });
}

failure unlike_parameters(std::string_view mine, std::string_view theirs) {
    return {error_code::mismatch,
            "the filters differ in parameters: " + std::string(mine) + " and " + std::string(theirs)};
}

} // namespace bouncer::detail
