// The kernels that answer for a bit filter's layout, of every instruction set that this processor has.
#pragma once

#include "support/subject.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/detail/kernels.h>
#include <bouncer/register_bloom.h>
#include <bouncer/split_block_bloom.h>

#include <span>
#include <utility>
#include <vector>

namespace bouncer::test {

// The kernel of one instruction set for a layout; null where the scalar code serves.
inline detail::query_kernel query_kernel_of(const kind& k, const choice& chosen,
                                            const detail::kernel_table& table) {
    if (k.is.id == detail::split_block_layout::kind_id) return table.split_block;
    if (k.is.id == detail::register_layout::kind_id)
        return table.registers[chosen.as<register_bloom_parameters>().k];
    if (k.is.id != detail::blocked_layout::kind_id) return nullptr;
    const auto& blocked = chosen.as<blocked_bloom_parameters>();
    switch (blocked.form) {
    case block_form::lanes8: return table.lanes8;
    case block_form::lanes16: return table.lanes16;
    case block_form::sectors2: return table.sectors2[blocked.k / 2];
    case block_form::sectors4: return table.sectors4[blocked.k / 4];
    }
    return nullptr;
}

class query_kernels {
  public:
    // The filter must outlive it. Empty for kinds that are not bit filters.
    query_kernels(const kind& k, const subject& f) {
        if (!k.is.bits) return;
        const choice chosen = f.params();
        words_ = f.stored().segments.front().words;
        blocks_ = k.shape_of(chosen).blocks;
        using detail::isa;
        for (const isa which : {isa::scalar, isa::avx2, isa::avx512}) {
            const detail::kernel_table* const table = detail::kernels_of(which);
            if (table == nullptr) continue;
            const auto kernel = query_kernel_of(k, chosen, *table);
            if (kernel != nullptr) of_batches_.emplace_back(which, kernel);
            if (k.is.id != detail::blocked_layout::kind_id) continue;
            lanes_ = detail::blocked_layout(chosen.as<blocked_bloom_parameters>());
            if (!lanes_.has_set()) continue; // not lanes
            of_keys_.push_back(lanes_.params().form == block_form::lanes8 ? table->lanes8_covers
                                                                          : table->lanes16_covers);
        }
    }

    // told(instruction set, how many were found) after each kernel; its answers stand in `answers`.
    template <class Told>
    void batch(hash_span hashes, std::span<bool> answers, Told told) const {
        for (const auto& [which, kernel] : of_batches_)
            told(which, kernel(words_, blocks_, hashes.data(), hashes.size(), answers.data()));
    }
    // How many of these keys the functions for single keys miss, where a layout has such.
    std::size_t missed_one_by_one(hash_span hashes) const {
        std::size_t out = 0;
        const std::uint64_t block_words = lanes_.params().form == block_form::lanes8 ? 8 : 16;
        for (const detail::cover_function covers : of_keys_)
            for (const std::uint64_t hash : hashes)
                out += !covers(words_ + lanes_.block_index(hash) * block_words, hash);
        return out;
    }

  private:
    std::vector<std::pair<detail::isa, detail::query_kernel>> of_batches_;
    std::vector<detail::cover_function> of_keys_;
    const std::uint64_t* words_ = nullptr;
    std::uint64_t blocks_ = 0;
    detail::blocked_layout lanes_{{}};
};

} // namespace bouncer::test
