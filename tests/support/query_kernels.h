// The kernels that answer for a bit filter, of every instruction set that this processor has.
#pragma once

#include "support/kinds.h"
#include "support/subject.h"

#include <bouncer/all_filters.h>
#include <bouncer/detail/bit_ops.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bouncer::test {

class query_kernels {
  public:
    // The filter must outlive it. Empty for kinds that are not bit filters.
    query_kernels(const kind& k, const subject& f) {
        if (!k.is.bits) return;
        words_ = f.stored().segments.front().words;
        const choice chosen = f.params();
        for_each_kind<plain_words>([&]<class F>() {
            if constexpr (is_bit_filter<F>::value) {
                if (F::kind_id != k.is.id) return;
                const typename F::layout_type layout(chosen.as<typename F::parameters>());
                at_ = layout.at();
                layout.visit([&]<class Form>(Form) { of_form(detail::all_forms::index_of<Form>()); });
            }
        });
    }

    // told(instruction set, how many were found) after each kernel; its answers stand in `answers`.
    template <class Told>
    void batch(hash_span hashes, std::span<bool> answers, Told told) const {
        for (const auto& [which, row] : rows_)
            told(which, row->covers_each(words_, at_, hashes.data(), hashes.size(), answers.data()));
    }
    // The same of the kernels for single keys.
    template <class Told>
    void one_by_one(hash_span hashes, std::span<bool> answers, Told told) const {
        for (const auto& [which, row] : rows_) {
            std::size_t found = 0;
            for (std::size_t i = 0; i < hashes.size(); ++i)
                found += answers[i] = row->covers(words_, at_, hashes[i]);
            told(which, found);
        }
    }

  private:
    void of_form(std::size_t row) {
        using detail::isa;
        for (const isa which : {isa::scalar, isa::avx2, isa::avx512})
            if (const detail::bit_ops_table* const table = detail::bit_ops_of(which); table != nullptr)
                rows_.emplace_back(which, &table->of_form[row]);
    }

    std::vector<std::pair<detail::isa, const detail::bit_ops*>> rows_;
    const std::uint64_t* words_ = nullptr;
    detail::extent at_;
};

} // namespace bouncer::test
