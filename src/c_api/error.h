// The way of a failure through the C interface: result<void> or an exception becomes a code and a message.
#pragma once

#include <bouncer/result.h>

#include <string_view>

namespace bouncer::c_api {

// [any-thread] Keeps the message for bouncer_last_error(); returns the code. Allocates nothing.
int report(error_code code, std::string_view message) noexcept;
// [any-thread] The same for the exception that is being handled.
int report_exception() noexcept;

// [any-thread] work() gives a result; what it throws stops here.
template <class Work>
int guarded(Work&& work) noexcept {
    try {
        const auto outcome = work();
        if (outcome) return 0;
        return report(outcome.error().code, outcome.error().message);
    } catch (...) {
        return report_exception();
    }
}

inline failure bad_argument(const char* what) {
    return {error_code::invalid_argument, what};
}

// [any-thread] The same for one answer, which goes to `place`.
template <class Answer, class Work>
int answered(Answer* place, Work&& work) noexcept {
    return guarded([&]() -> result<void> {
        if (place == nullptr) return bad_argument("the place for the answer is NULL");
        const auto got = work();
        if (!got) return got.error();
        *place = *got;
        return {};
    });
}

} // namespace bouncer::c_api
