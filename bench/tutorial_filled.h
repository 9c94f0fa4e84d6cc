// Large filters for rows about memory, made without adding a hundred million keys: their words are written instead.
//   present: all bits set. Every query reads what it reads for a key that is there, and says so.
//   absent:  random bits, half of them set, as in a filter with its full number of keys. The rate is 2^-k (a real
//            blocked filter has emptier and fuller lines, and so a little more), the memory accesses are the same.
#pragma once

#include "hashes.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/bloom.h>
#include <bouncer/region.h>

#include <cstdint>
#include <utility>

namespace bench::tutorial {

enum class answers : std::uint8_t { present, absent };

template <class Filter>
bouncer::result<Filter> filled(const typename Filter::parameters& size, answers asked,
                               const bouncer::memory_options& options = {}) {
    auto memory = bouncer::region::allocate(Filter::size_bytes_of(size), options);
    if (!memory) return memory.error();
    auto* const words = static_cast<std::uint64_t*>(memory->data());
    for (std::uint64_t i = 0; i < memory->size_bytes() / 8; ++i)
        words[i] = asked == answers::present ? ~std::uint64_t{0} : scrambled(~i);
    return Filter::over(std::move(*memory), size, bouncer::hash_spec{});
}

// What a size in bytes means to each kind, with the k of 1 %.
inline bouncer::bloom_parameters flat_size(std::uint64_t bytes) {
    return {.bits = bytes * 8, .k = 7};
}
inline bouncer::blocked_bloom_parameters blocked_size(std::uint64_t bytes) {
    return {.blocks = bytes / 64};
}

} // namespace bench::tutorial
