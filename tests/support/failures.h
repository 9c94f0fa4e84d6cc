// Expectations about refusals.
#pragma once

#include <bouncer/result.h>

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace bouncer::test {

// A failure with this code, whose sentence names each of the values.
template <class T, class... Values>
::testing::AssertionResult fails_with(const result<T>& got, error_code code, Values... values) {
    if (got.has_value()) return ::testing::AssertionFailure() << "was not refused";
    if (got.error().code != code)
        return ::testing::AssertionFailure() << "refused with " << name_of(got.error().code) << " instead of "
                                             << name_of(code) << ": " << got.error().message;
    const std::initializer_list<std::string_view> named{std::string_view(values)...};
    for (const std::string_view value : named)
        if (got.error().message.find(value) == std::string::npos)
            return ::testing::AssertionFailure()
                   << "does not name \"" << value << "\": " << got.error().message;
    return ::testing::AssertionSuccess();
}

} // namespace bouncer::test
