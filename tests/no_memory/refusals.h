// Allocations that fail one after the other. The program's operator new is in refusals_test.cc.
#pragma once

#include "support/subject.h"

#include <bouncer/region.h>
#include <bouncer/result.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace bouncer::test {

enum class refused : std::uint8_t {
    one, // this allocation, and no other
    all, // this one and all after it: there is not even memory for a sentence
};

// [exclusive] From now on allocation number `first`, counted from 0 over all threads, fails; those of tests_own do not count.
void refuse_from(std::uint64_t first, refused which) noexcept;
// [exclusive] No more of that. Returns whether one failed.
bool refuse_nothing() noexcept;

// A host whose allocations fail likewise, so that the memory of filters takes part.
memory_options refusing_memory() noexcept;

// Where a test calls. (clang 14 has no std::source_location of libstdc++.)
struct call_site {
    const char* file;
    int line;
    explicit call_site(const char* in = __builtin_FILE(), int at = __builtin_LINE()) : file(in), line(at) {}
};

// call(), with the first allocation failing, then the second, … until it needs no more: each time it returns a value, which
// is what it returns without failures or out_of_memory; and then `after`, which looks whether all is as it was. Returns how
// many allocations the call makes. A refusal by the call itself (`expected`) may keep its code. Late allocations are alike:
// behind the 16th (under sanitizers the 3rd) ever fewer of them are failed; all of them in the campaigns.
std::uint64_t refuse_each(const std::function<std::optional<error_code>()>& call,
                          const std::function<void()>& after, std::optional<error_code> expected,
                          const call_site& where);

// The same of a call that returns a result.
template <class Call>
std::uint64_t walk(
    Call call, const std::function<void()>& after = [] {}, std::optional<error_code> expected = std::nullopt,
    const call_site& where = call_site()) {
    return refuse_each(
        [&]() -> std::optional<error_code> {
            const auto got = call();
            if (got) return std::nullopt;
            return got.error().code;
        },
        after, expected, where);
}

// work() with no memory at all, for what promises not to need any.
template <class Work>
auto without_memory(Work work) {
    struct at_end {
        ~at_end() { refuse_nothing(); }
    } const ending;
    refuse_from(0, refused::all);
    return work();
}

} // namespace bouncer::test
