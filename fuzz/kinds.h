// The kinds, chosen by a byte, and their parameters, chosen by a few more. A new kind adds its two overloads here.
#pragma once

#include "input.h"

#include <bouncer/all_filters.h>

#include <type_traits>

namespace bouncer::fuzz {

// Calls visit.template operator()<F>() for the kind that the next byte names.
template <class Words, class Visit>
void with_a_kind(input& in, Visit visit) {
    const std::uint64_t chosen = in.below(all_kinds.size());
    std::uint64_t index = 0;
    for_each_kind<Words>([&]<class F>() {
        if (index++ == chosen) visit.template operator()<F>();
    });
}

// ---- valid parameters of at most 4 KiB ---------------------------------------------------------------------------

inline void small(input& in, bloom_parameters& out) {
    out.bits = 64 * (1 + in.below(256));
    out.k = static_cast<std::uint32_t>(1 + in.below(64));
}
inline void small(input& in, blocked_bloom_parameters& out) {
    out.form = static_cast<block_form>(in.below(5));
    out.blocks = 1 + in.below(32);
    switch (out.form) {
    case block_form::lanes8: out.k = 8; break;
    case block_form::lanes16: out.k = 16; break;
    case block_form::any_k: out.k = static_cast<std::uint32_t>(1 + in.below(16)); break;
    case block_form::sectors2: out.k = static_cast<std::uint32_t>(2 + 2 * in.below(8)); break;
    case block_form::sectors4: out.k = static_cast<std::uint32_t>(4 + 4 * in.below(4)); break;
    }
}
inline void small(input& in, split_block_bloom_parameters& out) {
    out.blocks = 1 + in.below(64);
}
inline void small(input& in, register_bloom_parameters& out) {
    out.words = 1 + in.below(256);
    out.k = static_cast<std::uint32_t>(1 + in.below(10));
}
inline void small(input& in, partitioned_bloom_parameters& out) {
    out.slice_bits = 64 * (1 + in.below(8));
    out.k = static_cast<std::uint32_t>(1 + in.below(64));
}

// ---- any values at all -------------------------------------------------------------------------------------------

inline void absurd(input& in, bloom_parameters& out) {
    out.bits = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, blocked_bloom_parameters& out) {
    out.form = static_cast<block_form>(in.below(7));
    out.blocks = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, split_block_bloom_parameters& out) {
    out.blocks = in.number();
}
inline void absurd(input& in, register_bloom_parameters& out) {
    out.words = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, partitioned_bloom_parameters& out) {
    out.slice_bits = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}

} // namespace bouncer::fuzz
