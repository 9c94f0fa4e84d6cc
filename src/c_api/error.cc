#include "c_api/error.h"

#include <bouncer/bouncer.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace bouncer::c_api {

namespace {

// Of fixed size: it must hold "out of memory" too, and a destructor per thread would outlive a dlclose.
constexpr std::size_t message_bytes = 1024;
constinit thread_local char last_message[message_bytes] = {};

static_assert(BOUNCER_INVALID_ARGUMENT == static_cast<int>(error_code::invalid_argument));
static_assert(BOUNCER_TOO_LARGE == static_cast<int>(error_code::too_large));
static_assert(BOUNCER_OUT_OF_MEMORY == static_cast<int>(error_code::out_of_memory));
static_assert(BOUNCER_MISMATCH == static_cast<int>(error_code::mismatch));
static_assert(BOUNCER_UNSUPPORTED == static_cast<int>(error_code::unsupported));
static_assert(BOUNCER_CORRUPT == static_cast<int>(error_code::corrupt));
static_assert(BOUNCER_UNKNOWN_VERSION == static_cast<int>(error_code::unknown_version));
static_assert(BOUNCER_WRONG_KEY == static_cast<int>(error_code::wrong_key));
static_assert(BOUNCER_IO == static_cast<int>(error_code::io));
static_assert(BOUNCER_FULL == static_cast<int>(error_code::full));
static_assert(BOUNCER_CANCELLED == static_cast<int>(error_code::cancelled));

} // namespace

int report(error_code code, std::string_view message) noexcept {
    const std::size_t length = std::min(message.size(), message_bytes - 1);
    std::copy_n(message.data(), length, last_message);
    last_message[length] = '\0';
    return static_cast<int>(code);
}

int report_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return report(error_code::out_of_memory, "out of memory");
    } catch (const std::length_error& why) {
        return report(error_code::too_large, why.what());
    } catch (const std::system_error& why) { // no thread, no lock
        return report(error_code::io, why.what());
    } catch (const std::exception& why) {
        return report(error_code::unsupported, why.what());
    } catch (...) {
        return report(error_code::unsupported, "an unknown exception");
    }
}

} // namespace bouncer::c_api

const char* bouncer_last_error(void) {
    return bouncer::c_api::last_message;
}

const char* bouncer_error_name(int code) {
    if (code == BOUNCER_OK) return "ok";
    if (code < BOUNCER_INVALID_ARGUMENT || code > BOUNCER_CANCELLED) return "unknown";
    return bouncer::name_of(static_cast<bouncer::error_code>(code)).data(); // a literal
}
