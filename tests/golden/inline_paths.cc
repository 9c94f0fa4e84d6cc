// The golden words by code that is compiled for a processor with AVX2 or AVX-512: one program each. Only the kinds whose
// single keys then take another path, the vector probes of detail/probe.h; and these probes themselves.
#include "golden/golden.h"

#include "kernels/comparisons.h"
#include "kernels/inline_table.h"
#include "support/random_hashes.h"

#include <gtest/gtest.h>

namespace bouncer::test {
namespace {

#if !defined(__AVX2__)
#error "without AVX2 nothing here differs from golden_test.cc"
#endif

template <class F, class Check>
void for_each_golden_of(Check check) {
    int files = 0;
    for (const golden& file : golden_files()) {
        if (file.kind != F::kind_name) continue;
        SCOPED_TRACE(file.name);
        check(file);
        ++files;
    }
    EXPECT_GT(files, 0);
}

template <class F>
void expect_words(const golden& file) {
    const auto hashes = added_hashes<F>(file);
    const auto expect_by = [&](const char* way, auto add) {
        auto f = empty_filter<F>(file);
        add(f);
        EXPECT_EQ(words_of(f), file.words) << way;
    };
    expect_by("one by one", [&](F& f) {
        for (const std::uint64_t hash : hashes) f.add(hash);
    });
    expect_by("test_and_add", [&](F& f) {
        for (const std::uint64_t hash : hashes) f.test_and_add(hash);
    });
    expect_by("batch", [&](F& f) { f.add_batch(hashes); });
    expect_by("batch with answers", [&](F& f) {
        answers got(hashes.size());
        f.test_and_add(hashes, got.span());
    });
    if constexpr (requires(F f) { f.add_all(hashes, 1); }) {
        expect_by("one thread", [&](F& f) { f.add_all(hashes, 1); });
    }
    if constexpr (requires(F f) { f.add_release(0); }) {
        expect_by("add_release", [&](F& f) {
            for (const std::uint64_t hash : hashes) f.add_release(hash);
        });
    }
}

template <class F>
void expect_answers(const golden& file) {
    auto filter = filter_of<F>(file);
    for (const std::uint64_t hash : added_hashes<F>(file)) EXPECT_TRUE(filter.may_contain(hash));
    std::vector<std::uint64_t> maybe;
    std::uint64_t key = file.keys;
    for (const std::uint64_t hash : asked_hashes<F>(file)) {
        if (filter.may_contain(hash)) maybe.push_back(key);
        ++key;
    }
    EXPECT_EQ(digest_of(maybe), file.maybe);
}

template <class F>
class inline_paths_of : public ::testing::Test {};
using kinds_with_inline_paths =
    ::testing::Types<plain_blocked_bloom, atomic_blocked_bloom, plain_split_block_bloom,
                     atomic_split_block_bloom, plain_register_bloom, atomic_register_bloom,
                     plain_scalable_bloom, atomic_scalable_bloom>;
TYPED_TEST_SUITE(inline_paths_of, kinds_with_inline_paths);

TYPED_TEST(inline_paths_of, give_the_words_of_the_golden_files) {
    for_each_golden_of<TypeParam>(expect_words<TypeParam>);
}

TYPED_TEST(inline_paths_of, answer_as_the_golden_files_say) {
    for_each_golden_of<TypeParam>(expect_answers<TypeParam>);
}

static_assert(bouncer::detail::probes_inline<bouncer::detail::lanes<1>>);

class inline_probes : public ::testing::TestWithParam<tested_form> {
  protected:
    const tested_form& form = GetParam();

    template <class Way>
    static std::vector<Way> ways() {
        std::vector<Way> out;
        append_ways(out, "inline", inline_table.of_form[GetParam().row]);
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(all, inline_probes, ::testing::ValuesIn(tested_forms()),
                         [](const auto& info) { return info.param.name; });

TEST_P(inline_probes, ask_as_the_specification_does) {
    EXPECT_EQ(query_differences(form, ways<query_way>(), 20'000, {few_words}), none);
    EXPECT_EQ(single_bit_differences(form, ways<query_way>(), 4), none);
    EXPECT_EQ(query_extreme_differences(form, ways<query_way>()), none);
}

TEST_P(inline_probes, add_as_the_specification_does) {
    EXPECT_EQ(add_run_differences(form, ways<add_way>(), 32), none);
    EXPECT_EQ(single_bit_add_differences(form, ways<add_way>(), 1), none);
    EXPECT_EQ(add_extreme_differences(form, ways<add_way>()), none);
}

} // namespace
} // namespace bouncer::test
