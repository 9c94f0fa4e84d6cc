// Errors as values: failure, its codes, and result<T>, a small subset of std::expected (which g++ 12 lacks).
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace bouncer {

// The numbers are part of the interface (they are the C API's codes): append, never reorder.
enum class error_code : std::uint8_t {
    invalid_argument = 1, // a parameter makes no sense; the message names it and its value
    too_large,            // a size beyond what the machine or the layout can hold, refused before allocating
    out_of_memory,        // the allocator said no
    mismatch,             // two filters, or a filter and a key, differ in kind, parameters or hash
    unsupported,          // this kind cannot do that
    corrupt,              // stored bytes are not what was written
    unknown_version,      // stored bytes are newer than this library
    wrong_key,            // the secret key is not the one the filter was built with
    io,                   // the operating system failed a file or socket operation
    full,                 // no room for another key
    cancelled,            // a callback asked to stop
};

// [immutable] The name of a code, as in the enumeration.
constexpr std::string_view name_of(error_code code) noexcept {
    switch (code) {
    case error_code::invalid_argument: return "invalid_argument";
    case error_code::too_large: return "too_large";
    case error_code::out_of_memory: return "out_of_memory";
    case error_code::mismatch: return "mismatch";
    case error_code::unsupported: return "unsupported";
    case error_code::corrupt: return "corrupt";
    case error_code::unknown_version: return "unknown_version";
    case error_code::wrong_key: return "wrong_key";
    case error_code::io: return "io";
    case error_code::full: return "full";
    case error_code::cancelled: return "cancelled";
    }
    return "unknown";
}

// Why something was not done: a code for programs, and a sentence for people that names the offending value.
struct failure {
    error_code code;
    std::string message;
};

// [any-thread] out_of_memory with this sentence; where there is no memory for the sentence either, with two words that a
// string holds in itself (up to 15 characters). For handlers of std::bad_alloc, which must not throw again.
inline failure no_memory_failure(std::string_view sentence) noexcept {
    try {
        return {error_code::out_of_memory, std::string(sentence)};
    } catch (const std::bad_alloc&) {
        return {error_code::out_of_memory, "no memory"};
    }
}

// What result<T>::value() throws. The library itself never throws it.
class bad_result : public std::runtime_error {
  public:
    explicit bad_result(const failure& why)
        : std::runtime_error(std::string(name_of(why.code)) + ": " + why.message), code_(why.code) {}

    // [immutable]
    error_code code() const noexcept { return code_; }

  private:
    error_code code_;
};

// A T, or the reason why there is none. As thread-safe as T.
template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure why) : state_(std::in_place_index<1>, std::move(why)) {}

    // [immutable]
    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // [exclusive] Precondition: has_value().
    T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    const T* operator->() const noexcept { return std::get_if<0>(&state_); }

    // [immutable] Precondition: !has_value().
    const failure& error() const noexcept { return *std::get_if<1>(&state_); }

    // [exclusive] The value; throws bad_result when there is none.
    T& value() & { return check(), **this; }
    const T& value() const& { return check(), **this; }
    T&& value() && { return check(), std::move(**this); }

  private:
    void check() const {
        if (!has_value()) throw bad_result(error());
    }

    std::variant<T, failure> state_;
};

// Done, or the reason why not.
template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure why) : why_(std::in_place_index<1>, std::move(why)) {}

    // [immutable]
    bool has_value() const noexcept { return why_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // [immutable] Precondition: !has_value().
    const failure& error() const noexcept { return *std::get_if<1>(&why_); }

    // [immutable] Throws bad_result unless done.
    void value() const {
        if (!has_value()) throw bad_result(error());
    }

  private:
    std::variant<std::monostate, failure> why_;
};

} // namespace bouncer
