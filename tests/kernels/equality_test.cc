// Every kernel that this processor can run or that can be imitated does as the specification of its form does.
#include "kernels/comparisons.h"
#include "kernels/inline_table.h"
#include "kernels/reference.h"
#include "kernels/tested_tables.h"
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace bouncer::test {
namespace {

class of_form : public ::testing::TestWithParam<tested_form> {
  protected:
    const tested_form& form = GetParam();
};
constexpr auto name_of_form = [](const auto& info) { return info.param.name; };
const auto each_form = ::testing::ValuesIn(tested_forms());

// So many keys, or fewer where a key has many words, or an instruction takes many.
std::uint64_t of_keys(const tested_form& form, std::uint64_t count) {
    return std::max<std::uint64_t>(1, scaled(count) / share() * 8 / std::max(8u, form.k));
}

// ---- queries -----------------------------------------------------------------------------------------------------

class query_kernels : public of_form {};
INSTANTIATE_TEST_SUITE_P(all, query_kernels, each_form, name_of_form);

TEST_P(query_kernels, equal_the_specification) {
    const auto ways = ways_of<query_way>(form);
    EXPECT_EQ(query_differences(form, ways, of_keys(form, 400'000), {few_words}), none);
    EXPECT_EQ(query_differences(form, ways, of_keys(form, 100'000), all_sizes(form)), none);
}

TEST_P(query_kernels, test_every_bit_of_the_key_and_no_other) {
    EXPECT_EQ(single_bit_differences(form, ways_of<query_way>(form), scaled(24) / share() + 1), none);
}

TEST_P(query_kernels, serve_every_length) {
    const auto ways = ways_of<query_way>(form);
    auto sizes = all_sizes(form);
    sizes.insert(sizes.end(), {1, 800});
    for (const std::uint64_t words : sizes)
        EXPECT_EQ(query_length_differences(form, ways, words), none) << words;
}

TEST_P(query_kernels, serve_extreme_hashes_and_fills) {
    EXPECT_EQ(query_extreme_differences(form, ways_of<query_way>(form)), none);
}

// The comparisons themselves can fail: kernels that pass over the last bit of a key, that ask for one more, and that lose the
// answer or the count of the last key.
TEST_P(query_kernels, with_a_fault_would_be_found) {
    const auto with_key = [&](auto change) {
        return std::vector<query_way>{
            {"faulty", [this, change](const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                                      std::size_t count, bool* answers) {
                 std::size_t found = 0;
                 for (std::size_t i = 0; i < count; ++i) {
                     key_words key = form.key(at, hashes[i]);
                     change(key[key.size() - 1].bits);
                     found += answers[i] = key.covered_by(words);
                 }
                 return found;
             }}};
    };
    const auto too_few = with_key([](std::uint64_t& bits) { bits &= ~std::bit_floor(bits); });
    EXPECT_NE(query_differences(form, too_few, 100'000, {few_words}), none);
    EXPECT_NE(single_bit_differences(form, too_few, 1), none);
    EXPECT_NE(query_length_differences(form, too_few, few_words), none);
    const auto too_many = with_key([](std::uint64_t& bits) { bits |= ~bits & (bits + 1); });
    EXPECT_NE(query_differences(form, too_many, 100'000, {few_words}), none);
    EXPECT_NE(single_bit_differences(form, too_many, 1), none);
    EXPECT_NE(query_length_differences(form, too_many, few_words), none);

    const auto right = with_key([](std::uint64_t&) {}).front().run;
    EXPECT_EQ(query_length_differences(form, {{"right", right}}, few_words), none);
    const std::vector<query_way> forgetful{
        {"answer",
         [&](const std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
             bool* answers) {
             const bool last = count > 0 && answers[count - 1];
             const std::size_t found = right(words, at, hashes, count, answers);
             if (count > 0) answers[count - 1] = last;
             return found;
         }},
        {"count",
         [&](const std::uint64_t* words, extent at, const std::uint64_t* hashes, std::size_t count,
             bool* answers) {
             const std::size_t found = right(words, at, hashes, count, answers);
             return found - (count % 8 == 1 && answers[count - 1]);
         }},
        {"one too far", [&](const std::uint64_t* words, extent at, const std::uint64_t* hashes,
                            std::size_t count, bool* answers) {
             const std::size_t found = right(words, at, hashes, count, answers);
             if (count % 8 == 7) answers[count] = false;
             return found;
         }}};
    EXPECT_EQ(query_length_differences(form, forgetful, few_words).size(), forgetful.size());
}

// ---- adds --------------------------------------------------------------------------------------------------------

class add_kernels : public of_form {};
INSTANTIATE_TEST_SUITE_P(all, add_kernels, each_form, name_of_form);

TEST_P(add_kernels, equal_the_specification_in_runs_of_old_and_new_keys) {
    EXPECT_EQ(add_run_differences(form, ways_of<add_way>(form), of_keys(form, 300) + 16), none);
}

TEST_P(add_kernels, serve_every_length_and_repeated_keys) {
    const auto ways = ways_of<add_way>(form);
    auto sizes = all_sizes(form);
    sizes.push_back(1);
    if (form.block_words != 0)
        sizes.insert(sizes.end(), {48, 800}); // so few blocks that keys of an eight share one
    for (const std::uint64_t words : sizes)
        EXPECT_EQ(add_length_differences(form, ways, words), none) << words;
}

TEST_P(add_kernels, look_at_every_bit_of_the_key_and_no_other) {
    EXPECT_EQ(single_bit_add_differences(form, ways_of<add_way>(form), scaled(3) / share() + 1), none);
}

TEST_P(add_kernels, serve_extreme_hashes_and_fills) {
    EXPECT_EQ(add_extreme_differences(form, ways_of<add_way>(form)), none);
}

// Faults that such kernels may have: to look at a whole eight before writing, which counts a repeated key twice; to add
// what fills up the last eight; to write behind the last word; to leave out a bit, to set one more, to lose the last key.
TEST_P(add_kernels, with_a_fault_would_be_found) {
    const auto key = [this](extent at, std::uint64_t hash) { return form.key(at, hash); };
    using words_pointer = std::uint64_t*;
    using hash_pointer = const std::uint64_t*;
    const auto right = [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count,
                           bool* known) {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < count; ++i) changed += !(known[i] = key(at, hashes[i]).set_in(words));
        return changed;
    };
    EXPECT_EQ(add_length_differences(form, {{"right", right}}, 800), none);
    EXPECT_EQ(single_bit_add_differences(form, {{"right", right}}, 1), none);
    EXPECT_EQ(add_run_differences(form, {{"right", right}}, 16), none);

    const auto early = [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count,
                           bool* known) {
        std::size_t changed = 0;
        for (std::size_t first = 0; first < count; first += 8) {
            const std::size_t last = std::min(count, first + 8);
            for (std::size_t i = first; i < last; ++i)
                changed += !(known[i] = key(at, hashes[i]).covered_by(words));
            for (std::size_t i = first; i < last; ++i) key(at, hashes[i]).set_in(words);
        }
        return changed;
    };
    EXPECT_NE(add_length_differences(form, {{"early", early}}, 800), none);
    EXPECT_NE(add_length_differences(
                  form,
                  {{"early, without answers",
                    [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count, bool*) {
                        answers known(count);
                        return early(words, at, hashes, count, known.span().data());
                    },
                    true, false}},
                  800),
              none);
    EXPECT_NE(add_run_differences(form, {{"early", early}}, 32), none);

    // After the right adds of all but the last key.
    const auto then = [&](const char* name, auto last) {
        return std::vector<add_way>{
            {name, [&right, last](words_pointer words, extent at, hash_pointer hashes, std::size_t count,
                                  bool* known) {
                 if (count == 0) return std::size_t{0};
                 const std::size_t changed = right(words, at, hashes, count - 1, known);
                 return changed + !(known[count - 1] = last(words, at, hashes, count));
             }}};
    };
    const auto expect_found = [&](const std::vector<add_way>& faulty) {
        EXPECT_NE(add_length_differences(form, faulty, 800), none) << faulty.front().name;
        EXPECT_NE(add_length_differences(form, faulty, many_words), none) << faulty.front().name;
        EXPECT_NE(add_run_differences(form, faulty, 16), none) << faulty.front().name;
    };
    expect_found(
        then("filled up", [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count) {
            const bool known = key(at, hashes[count - 1]).set_in(words);
            if (count % 8 != 0) key(at, 1).set_in(words);
            return known;
        }));
    expect_found(then("behind", [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count) {
        ++words[form.words_of(at)];
        return key(at, hashes[count - 1]).set_in(words);
    }));
    expect_found(
        then("a bit less", [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count) {
            key_words less = key(at, hashes[count - 1]);
            const bool known = less.covered_by(words);
            less[0].bits &= ~std::bit_floor(less[0].bits);
            less.set_in(words);
            return known;
        }));
    expect_found(
        then("a bit more", [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count) {
            const bool known = key(at, hashes[count - 1]).set_in(words);
            key_words more = key(at, hashes[count - 1]);
            more[0].bits |= ~more[0].bits & (more[0].bits + 1);
            more.set_in(words);
            return known;
        }));
    expect_found(then("lost", [&](words_pointer words, extent at, hash_pointer hashes, std::size_t count) {
        const bool known = key(at, hashes[count - 1]).covered_by(words);
        if (count % 8 != 1) key(at, hashes[count - 1]).set_in(words);
        return known;
    }));
}

// ---- what headers hold -------------------------------------------------------------------------------------------

// Compiled for the baseline here; golden/inline_paths.cc has the same for others.
class inline_probes : public of_form {};
INSTANTIATE_TEST_SUITE_P(all, inline_probes, each_form, name_of_form);

TEST_P(inline_probes, equal_the_specification) {
    std::vector<query_way> queries;
    std::vector<add_way> adds;
    append_ways(queries, "inline", inline_table.of_form[form.row]);
    append_ways(adds, "inline", inline_table.of_form[form.row]);
    EXPECT_EQ(query_differences(form, queries, of_keys(form, 100'000), {few_words}), none);
    EXPECT_EQ(add_run_differences(form, adds, of_keys(form, 100) + 16), none);
}

// ---- the forms and their tables ----------------------------------------------------------------------------------

// floor(a * b / 2^64) by long multiplication of halves.
std::uint64_t upper_half(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t low = 0xffffffffu;
    const std::uint64_t middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & low) * (b >> 32) + (middle & low)) >> 32);
}

class forms : public of_form {};
INSTANTIATE_TEST_SUITE_P(all, forms, each_form, name_of_form);

// More blocks than memory holds. (Parquet's are counted by 32 bits.)
TEST_P(forms, pick_a_block_of_any_number) {
    if (form.block_of == nullptr) return;
    const bool parquets = form.row == detail::all_forms::index_of<detail::split8x32>();
    for (const std::uint64_t units :
         {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 31, (std::uint64_t{1} << 32) - 1,
          (std::uint64_t{1} << 32) + 1, (std::uint64_t{1} << 40) + 7, std::uint64_t{1} << 44}) {
        if (parquets && units >> 32 != 0) continue;
        const auto expect = [&](std::uint64_t hash) {
            const std::uint64_t block = form.block_of(hash, units);
            EXPECT_EQ(block, parquets ? ((hash >> 32) * units) >> 32 : upper_half(hash, units)) << units;
            EXPECT_LT(block, units);
            for (const auto& [word, bits] : form.key({units, form.k}, hash)) {
                EXPECT_EQ(word / form.block_words, block);
                EXPECT_NE(bits, 0u);
            }
        };
        for (const std::uint64_t hash : random_hashes(100, 1)) expect(hash);
        for (const std::uint64_t hash : extreme_hashes()) expect(hash);
    }
}

TEST_P(forms, stay_within_their_words) {
    for (const std::uint64_t words : {std::uint64_t{1}, std::uint64_t{130}, few_words}) {
        const filter_words filter(form, words);
        EXPECT_EQ(form.words_it_claims(filter.at()), filter.count());
        const auto expect = [&](std::uint64_t hash) {
            std::size_t bits_set = 0;
            for (const auto& [word, bits] : form.key(filter.at(), hash)) {
                EXPECT_LT(word, filter.count());
                bits_set += static_cast<std::size_t>(std::popcount(bits));
            }
            EXPECT_LE(bits_set, form.k);
        };
        for (const std::uint64_t hash : random_hashes(1'000, 1)) expect(hash);
        for (const std::uint64_t hash : extreme_hashes()) expect(hash);
    }
}

TEST(kernel_tables, name_what_this_machine_has) {
    ASSERT_NE(detail::bit_ops_of(detail::isa::scalar), nullptr);
    EXPECT_EQ(&detail::active_bit_ops(), detail::bit_ops_of(detail::active_isa()));
    EXPECT_EQ(&detail::active_cell_ops(), detail::cell_ops_of(detail::active_isa()));
    detail::all_forms::each([]<class Form>(Form) {
        EXPECT_EQ(&detail::active_ops<Form>(),
                  &detail::active_bit_ops().of_form[detail::all_forms::index_of<Form>()]);
    });
    for (const auto which : {detail::isa::scalar, detail::isa::avx2, detail::isa::avx512})
        EXPECT_EQ(detail::bit_ops_of(which) == nullptr, detail::cell_ops_of(which) == nullptr);
}

TEST(kernel_tables, have_every_entry) {
    for (const named_table& each : all_tables()) {
        SCOPED_TRACE(each.name);
        for (const detail::bit_ops& row : each.bits->of_form) {
            EXPECT_NE(row.covers, nullptr);
            EXPECT_NE(row.set, nullptr);
            EXPECT_NE(row.set_shared, nullptr);
            EXPECT_NE(row.covers_each, nullptr);
            EXPECT_NE(row.set_each, nullptr);
            EXPECT_NE(row.set_each_shared, nullptr);
            EXPECT_NE(row.put_each, nullptr);
        }
        for (const detail::cell_ops& row : {each.cells->halves, each.cells->bytes}) {
            EXPECT_NE(row.nonzero_each, nullptr);
            EXPECT_NE(row.common_each, nullptr);
        }
    }
}

} // namespace
} // namespace bouncer::test
