// The kinds, chosen by a byte, and their parameters, chosen by a few more. A new kind adds its two overloads here.
#pragma once

#include "input.h"

#include <bouncer/all_filters.h>
#include <bouncer/counting_bloom.h>
#include <bouncer/scalable.h>
#include <bouncer/stable_bloom.h>
#include <bouncer/windowed_bloom.h>

#include <type_traits>

namespace bouncer::fuzz {

template <class F>
struct is_bit_filter : std::false_type {};
template <class Layout, class Words>
struct is_bit_filter<bit_filter<Layout, Words>> : std::true_type {};

// Calls visit.template operator()<F>() for the kind that the next byte names, of those for which Holds<F>::value.
template <template <class> class Holds, class Words, class Visit>
void with_a_kind_that(input& in, Visit visit) {
    std::uint64_t count = 0;
    for_each_kind<Words>([&]<class F>() { count += Holds<F>::value; });
    const std::uint64_t chosen = in.below(count);
    std::uint64_t index = 0;
    for_each_kind<Words>([&]<class F>() {
        if constexpr (Holds<F>::value) {
            if (index++ == chosen) visit.template operator()<F>();
        }
    });
}

// Those that are created empty and take keys; static ones are built: build.cc.
template <class F>
struct is_incremental : std::bool_constant<incremental<F>> {};
template <class Words, class Visit>
void with_a_kind(input& in, Visit visit) {
    with_a_kind_that<is_incremental, Words>(in, visit);
}

// ---- valid parameters of at most 4 KiB ---------------------------------------------------------------------------

inline void small(input& in, bloom_parameters& out) {
    out.bits = 64 * (1 + in.below(256));
    out.k = static_cast<std::uint32_t>(1 + in.below(64));
}
inline void small(input& in, blocked_bloom_parameters& out) {
    constexpr block_form forms[] = {block_form::lanes8, block_form::lanes16, block_form::sectors2,
                                    block_form::sectors4};
    out.form = forms[in.below(4)];
    out.blocks = 1 + in.below(32);
    switch (out.form) {
    case block_form::lanes8: out.k = 8; break;
    case block_form::lanes16: out.k = 16; break;
    case block_form::sectors2: out.k = static_cast<std::uint32_t>(2 + 2 * in.below(8)); break;
    case block_form::sectors4: out.k = static_cast<std::uint32_t>(4 + 4 * in.below(4)); break;
    }
}
inline void small(input& in, split_block_bloom_parameters& out) {
    out.blocks = 1 + in.below(64);
}
inline void small(input& in, register_bloom_parameters& out) {
    out.words = 1 + in.below(256);
    out.k = static_cast<std::uint32_t>(1 + in.below(8));
}
inline void small(input& in, partitioned_bloom_parameters& out) {
    out.slice_bits = 64 * (1 + in.below(8));
    out.k = static_cast<std::uint32_t>(1 + in.below(64));
}
inline void small(input& in, dcso_bloom_parameters& out) {
    out.bits = 1 + in.below(1 << 14);
    out.k = static_cast<std::uint32_t>(1 + in.below(64));
}
inline void small(input& in, counting_bloom_parameters& out) {
    const std::uint64_t width = in.below(5); // the last: bytes, flat
    out.counter_bits = width == 4 ? 8 : 4u << width;
    out.form = width < 2 ? cell_form::two_lines : cell_form::flat;
    const bool lines = out.form == cell_form::two_lines;
    out.units = lines ? 1 + in.below(32) : 64 * (1 + in.below(8));
    out.k = static_cast<std::uint32_t>(lines ? 2 + 2 * in.below(8) : 1 + in.below(32));
}
inline void small(input& in, windowed_bloom_parameters& out) {
    out.live = static_cast<std::uint32_t>(2 + in.below(6));
    out.form = static_cast<cell_form>(in.below(2));
    const bool lines = out.form == cell_form::two_lines;
    out.units = lines ? 1 + in.below(16) : 128 * (1 + in.below(16));
    out.k = static_cast<std::uint32_t>(lines ? 2 + 2 * in.below(8) : 1 + in.below(32));
}
inline void small(input& in, stable_bloom_parameters& out) {
    out.cell_bits = 1u << in.below(3);
    out.cells = 512 * (1 + in.below(16));
    out.k = static_cast<std::uint32_t>(1 + in.below(32));
    out.decrements = static_cast<std::uint32_t>(1 + in.below(255));
}
inline void small(input& in, scalable_parameters& out) {
    out.first_keys = 1 + in.below(64);
    out.rate = 0.001 + 0.001 * static_cast<double>(in.below(256));
    out.growth_small = static_cast<std::uint32_t>(1 + in.below(4));
    out.growth = static_cast<std::uint32_t>(1 + in.below(4));
}

// ---- any values at all -------------------------------------------------------------------------------------------

inline void absurd(input& in, bloom_parameters& out) {
    out.bits = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, blocked_bloom_parameters& out) {
    out.form = static_cast<block_form>(in.below(9));
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
inline void absurd(input& in, dcso_bloom_parameters& out) {
    out.bits = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, counting_bloom_parameters& out) {
    out.form = static_cast<cell_form>(in.below(4));
    out.counter_bits = static_cast<std::uint32_t>(in.below(2) == 0 ? 4u << in.below(4) : in.number());
    out.units = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, windowed_bloom_parameters& out) {
    out.form = static_cast<cell_form>(in.below(4));
    out.live = static_cast<std::uint32_t>(in.below(2) == 0 ? in.below(9) : in.number());
    out.units = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, stable_bloom_parameters& out) {
    out.cell_bits = static_cast<std::uint32_t>(in.below(2) == 0 ? in.below(6) : in.number());
    out.cells = in.number();
    out.k = static_cast<std::uint32_t>(in.number());
    out.decrements = static_cast<std::uint32_t>(in.number());
}
inline void absurd(input& in, scalable_parameters& out) {
    out.first_keys = in.number();
    out.rate = in.real();
    out.tightening = in.real();
    out.growth_small = static_cast<std::uint32_t>(in.number());
    out.growth = static_cast<std::uint32_t>(in.number());
    out.small_keys = in.number();
    out.prefer = static_cast<enum prefer>(in.below(4));
}

} // namespace bouncer::fuzz
