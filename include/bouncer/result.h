// Errors as values: failure, its codes, and result<T>, a small subset of std::expected (which g++ 12 lacks).
//
// A function that returns a result does not throw. When memory runs out, in the library or in a callback, it returns
// out_of_memory. Any other exception that a callback of yours throws passes through, where the function does not say
// otherwise (rebuilder does). Functions that allocate and return no result (a description, a list of layers, an exact rate)
// throw std::bad_alloc. So may making the arguments of a call: a std::function of a lambda, a std::string of a literal.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bouncer {

// The numbers are part of the interface (they are the C API's codes): append, never reorder.
enum class error_code : std::uint8_t {
    invalid_argument = 1, // a parameter makes no sense; the message names it and its value
    too_large,            // a size beyond what the machine or the layout can hold, refused before allocating
    out_of_memory,        // the allocator said no
    mismatch,             // two filters, or a filter and a key, differ in kind, parameters or hash
    unsupported,          // this kind cannot do that
    corrupt,              // stored bytes are not what was written
    unknown_version,      // stored bytes are newer than this library, or of a form that it dropped
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
//
// Copying never throws: where there is no memory for the sentence, the copy has the code and "no memory", which a string
// holds in itself (up to 15 characters).
struct failure {
    failure(error_code why, std::string text) noexcept : code(why), message(std::move(text)) {}
    failure(failure&&) noexcept = default;
    failure& operator=(failure&&) noexcept = default;
    // Not inlined: nearly every function hands failures on, and hardly ever has one.
    [[gnu::noinline, gnu::cold]] failure(const failure& other) noexcept : code(other.code) {
        try {
            message = other.message;
        } catch (const std::bad_alloc&) {
            message = "no memory";
        }
    }
    [[gnu::noinline, gnu::cold]] failure& operator=(const failure& other) noexcept {
        return *this = failure(other);
    }
    ~failure() = default;

    error_code code;
    std::string message;
};

// [any-thread] out_of_memory with this sentence; where there is no memory for the sentence either, with "no memory".
[[gnu::cold]] inline failure no_memory_failure(std::string_view sentence) noexcept {
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

// A T, or the reason why there is none. As thread-safe as T. A union and a bool, not std::variant, which every kind, form
// and method would pay for at compile time: a fifth of that of any_filter.cc.
template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : value_(std::move(value)), has_value_(true) {}
    result(failure&& why) noexcept : why_(std::move(why)), has_value_(false) {}
    result(const failure& why) noexcept : why_(why), has_value_(false) {}

    result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : has_value_(other.has_value_) {
        if (has_value_)
            ::new (&value_) T(std::move(other.value_));
        else
            ::new (&why_) failure(std::move(other.why_));
    }
    result(const result& other) requires std::copy_constructible<T> : has_value_(other.has_value_) {
        if (has_value_)
            ::new (&value_) T(other.value_);
        else
            ::new (&why_) failure(other.why_);
    }
    result& operator=(result other) noexcept {
        static_assert(std::is_nothrow_move_constructible_v<T>);
        this->~result();
        return *::new (this) result(std::move(other));
    }
    ~result() {
        if (has_value_)
            value_.~T();
        else
            why_.~failure();
    }

    // [immutable]
    bool has_value() const noexcept { return has_value_; }
    explicit operator bool() const noexcept { return has_value_; }

    // [exclusive] Precondition: has_value().
    T& operator*() & noexcept { return value_; }
    const T& operator*() const& noexcept { return value_; }
    T&& operator*() && noexcept { return std::move(value_); }
    T* operator->() noexcept { return &value_; }
    const T* operator->() const noexcept { return &value_; }

    // [immutable] Precondition: !has_value().
    const failure& error() const noexcept { return why_; }

    // [exclusive] The value; throws bad_result when there is none.
    T& value() & { return check(), value_; }
    const T& value() const& { return check(), value_; }
    T&& value() && { return check(), std::move(value_); }

  private:
    void check() const {
        if (!has_value_) throw bad_result(why_);
    }

    union {
        T value_;
        failure why_;
    };
    bool has_value_;
};

// Done, or the reason why not.
template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure&& why) noexcept : why_(std::move(why)) {}
    result(const failure& why) noexcept : why_(why) {}

    // [immutable]
    bool has_value() const noexcept { return !why_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    // [immutable] Precondition: !has_value().
    const failure& error() const noexcept { return *why_; }

    // [immutable] Throws bad_result unless done.
    void value() const {
        if (!has_value()) throw bad_result(error());
    }

  private:
    std::optional<failure> why_;
};

namespace detail {

// work(), which returns a result; std::bad_alloc becomes out_of_memory, whoever threw it, a callback of the user too. Other
// exceptions pass: only callbacks throw any.
//
// The one place where that happens. A public function that returns a result has it around all that may allocate. What is
// private to a layer may throw std::bad_alloc.
template <class Work>
auto guarded(Work&& work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return no_memory_failure("there is no memory for it");
    }
}

} // namespace detail

} // namespace bouncer
