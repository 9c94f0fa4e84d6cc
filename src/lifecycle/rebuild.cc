#include "bouncer/detail/format.h"
#include "bouncer/detail/hot_memory.h"
#include "memory/size_text.h"

#include <exception>
#include <new>
#include <string>

namespace bouncer::detail {

result<void> check_rebuild_memory(std::uint64_t old_bytes, std::uint64_t new_bytes,
                                  std::uint64_t budget_bytes, std::uint64_t left_bytes) {
    const auto sizes = [&] {
        return "the filter that serves takes " + size_text(old_bytes) + " and the new one " +
               size_text(new_bytes);
    };
    if (old_bytes > budget_bytes || new_bytes > budget_bytes - old_bytes)
        return failure{error_code::too_large,
                       sizes() + ", and the budget for both is " + size_text(budget_bytes)};
    if (new_bytes > left_bytes)
        return failure{error_code::out_of_memory,
                       sizes() + ", for which " + size_text(left_bytes) + " are left"};
    return {};
}

failure too_many_keys(std::uint64_t inside, std::uint64_t most, std::uint64_t announced,
                      std::optional<double> rate) {
    std::string text = "the new filter would have " + std::to_string(inside) + " keys or more";
    if (announced != 0) text += ", " + std::to_string(announced) + " were announced";
    text += ", and " + std::to_string(most) + " are the most ";
    text += rate ? "that keep its false-positive rate of " + scientific(*rate)
                 : std::string("accepted (10 % above)");
    return {error_code::full, text};
}

namespace {

failure described(const char* who) {
    const std::string threw = std::string(who) + " threw";
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {error_code::out_of_memory, threw + " for want of memory"};
    } catch (const bad_result& why) {
        return {why.code(), threw + ": " + why.what()};
    } catch (const std::exception& why) {
        return {error_code::io, threw + ": " + why.what()};
    } catch (...) {
        return {error_code::io, threw + " something that is no std::exception"};
    }
}

} // namespace

failure failure_of_exception(const char* who) {
    try {
        return described(who);
    } catch (const std::bad_alloc&) { // of the description
        return no_memory_failure("no memory");
    }
}

} // namespace bouncer::detail
