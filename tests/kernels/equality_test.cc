// Every kernel this processor can run answers as the scalar specification does.
#include "kernels/reference.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

namespace bouncer::test {
namespace {

template <class Reference>
class kernel : public ::testing::Test {
  protected:
    // work(kernel) for every instruction set that has one here.
    template <class Work>
    static void for_each_isa(Work work) {
        for (const auto which : {detail::isa::scalar, detail::isa::avx2, detail::isa::avx512}) {
            const detail::kernel_table* const table = detail::kernels_of(which);
            if (table == nullptr || table->*Reference::entry == nullptr)
                continue; // not here, or the scalar loop
            SCOPED_TRACE(detail::name_of(which).data());
            work(table->*Reference::entry);
        }
    }
};

struct reference_names {
    template <class Reference>
    static std::string GetName(int) {
        return Reference::name;
    }
};
using references = ::testing::Types<lanes8_reference, lanes16_reference, split_block_reference>;
TYPED_TEST_SUITE(kernel, references, reference_names);

TYPED_TEST(kernel, equals_the_specification) {
    this->for_each_isa([](auto run) { EXPECT_EQ(differences<TypeParam>(run, scaled(15'000'000)), 0u); });
}

TYPED_TEST(kernel, tests_every_bit_of_the_mask_and_no_other) {
    this->for_each_isa(
        [](auto run) { EXPECT_EQ(single_bit_differences<TypeParam>(run, scaled(1'000)), 0u); });
}

TYPED_TEST(kernel, serves_every_length) {
    this->for_each_isa([](auto run) { EXPECT_EQ(length_differences<TypeParam>(run), 0u); });
}

TYPED_TEST(kernel, serves_extreme_hashes_and_fills) {
    this->for_each_isa([](auto run) { EXPECT_EQ(extreme_differences<TypeParam>(run), 0u); });
}

// The comparison itself can fail: a kernel with one wrong lane is found out.
TYPED_TEST(kernel, with_a_wrong_lane_would_be_found) {
    const auto broken = [](const std::uint64_t* words, std::uint64_t blocks, const std::uint64_t* hashes,
                           std::size_t count, bool* out) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t* const block = words + TypeParam::index(hashes[i], blocks) * TypeParam::words;
            out[i] = true;
            for (std::size_t w = 0; w + 1 < TypeParam::words; ++w)
                if ((~block[w] & TypeParam::word(hashes[i], w)) != 0) out[i] = false;
            found += out[i];
        }
        return found;
    };
    EXPECT_GT(differences<TypeParam>(broken, 300'000), 0u);
    EXPECT_GT(single_bit_differences<TypeParam>(broken, 1), 0u);
}

TEST(kernel_tables, name_what_this_machine_has) {
    const detail::kernel_table* const scalar = detail::kernels_of(detail::isa::scalar);
    ASSERT_NE(scalar, nullptr);
    EXPECT_EQ(scalar->lanes8, nullptr); // the loop over the specification serves
    EXPECT_EQ(scalar->lanes16, nullptr);
    EXPECT_EQ(scalar->split_block, nullptr);
    EXPECT_EQ(&detail::active_kernels(), detail::kernels_of(detail::active_isa()));
    for (const auto which : {detail::isa::avx2, detail::isa::avx512}) {
        const detail::kernel_table* const table = detail::kernels_of(which);
        if (table == nullptr) continue;
        EXPECT_NE(table->lanes8, nullptr);
        EXPECT_NE(table->lanes16, nullptr);
        EXPECT_NE(table->split_block, nullptr);
    }
}

} // namespace
} // namespace bouncer::test
