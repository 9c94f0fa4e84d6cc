// Every form of every kind, on every machine and with every instruction set, gives the words of the golden files.
#include "golden/golden_subject.h"

#include "support/query_kernels.h"
#include "support/random_hashes.h"

#include <bouncer/all_filters.h>
#include <bouncer/keyed.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace bouncer::test {
namespace {

// check(plain kind, file)
template <class Check>
void for_each_golden(Check check) {
    for (const golden& file : golden_files()) {
        SCOPED_TRACE(file.name);
        EXPECT_TRUE(with_kind_of(file, [&](const kind& k) { check(k, file); }));
    }
}

// All ways to fill a filter of this access.
void expect_words_by_every_add(const kind& k, const golden& file) {
    const auto hashes = added_hashes(k, file);
    const hash_span all(hashes);
    {
        auto f = empty_filter(k, file);
        for (const std::uint64_t hash : hashes) f.add(hash);
        EXPECT_EQ(words_of(f), file.words) << "one by one";
        EXPECT_EQ(words_of(f.clone()), file.words) << "clone";
        EXPECT_EQ(words_of(f.view()), file.words) << "view";
        if (k.is.foldable) {
            EXPECT_EQ(words_of(f.fold(1).value()), file.words) << "fold by one";
        }
    }
    {
        auto f = empty_filter(k, file);
        f.add_batch(hashes);
        EXPECT_EQ(words_of(f), file.words) << "batch";
    }
    {
        auto f = empty_filter(k, file);
        answers got(hashes.size());
        f.test_and_add(hashes, got.span());
        EXPECT_EQ(words_of(f), file.words) << "test_and_add";
    }
    if (k.is.commuting && k.is.bulk) {
        auto f = empty_filter(k, file);
        f.add_all(hashes, 3);
        EXPECT_EQ(words_of(f), file.words) << "three threads";
    }
    if (k.is.commuting && k.is.mergeable) {
        auto first = empty_filter(k, file);
        auto second = empty_filter(k, file);
        first.add_batch(all.first(hashes.size() / 2));
        second.add_batch(all.subspan(hashes.size() / 2));
        EXPECT_TRUE(first.merge(second).has_value());
        EXPECT_EQ(words_of(first), file.words) << "merge";
    }
    if (k.is.released) {
        auto f = empty_filter(k, file);
        for (const std::uint64_t hash : hashes) f.add_release(hash);
        EXPECT_EQ(words_of(f), file.words) << "add_release";
    }
}

// All ways to build a static filter.
void expect_words_by_every_build(const kind& k, const golden& file) {
    const auto f = filter_of(k, file);
    EXPECT_EQ(words_of(f), file.words);
    EXPECT_EQ(words_of(f.clone()), file.words) << "clone";
    EXPECT_EQ(words_of(f.view()), file.words) << "view";
    if (k.is.buildable) {
        auto shuffled = added_hashes(k, file);
        std::reverse(shuffled.begin(), shuffled.end());
        shuffled.insert(shuffled.end(), shuffled.begin() + 7, shuffled.begin() + 50);
        EXPECT_EQ(words_of(k.build(shuffled, file.wanted.value(), {.threads = 3}).value()), file.words)
            << "three threads, another order, some keys twice";
    }
}

void expect_words_by_every_way(const kind& k, const golden& file) {
    if (k.is.incremental)
        expect_words_by_every_add(k, file);
    else
        expect_words_by_every_build(k, file);
}

TEST(golden_files, are_there_for_every_kind) {
    std::set<std::string> kinds;
    for (const golden& file : golden_list()) kinds.emplace(file.kind);
    for (const kind_info& kind : all_kinds) EXPECT_TRUE(kinds.contains(std::string(kind.name))) << kind.name;
    EXPECT_EQ(kinds.size(), all_kinds.size());
}

TEST(golden_files, say_what_they_hold) {
    for_each_golden([](const kind& k, const golden& file) {
        const auto chosen = (k.is.incremental ? empty_filter(k, file) : filter_of(k, file)).params();
        EXPECT_EQ(file.parameters, chosen.text());
        if (k.is.bits) {
            EXPECT_EQ(file.words.size() * 8, k.size_bytes_of(chosen));
        }
        EXPECT_LE(file.words.size(), k.is.bits ? 64u : 512u);
        EXPECT_EQ(file.maybe.count == 0, k.is.built_exactly || k.is.name == "fingerprint_set")
            << "no false positive to test with";
    });
}

TEST(golden_files, hold_the_words_of_plain_filters) {
    for_each_golden([](const kind& k, const golden& file) { expect_words_by_every_way(k, file); });
}

TEST(golden_files, hold_the_words_of_atomic_filters) {
    for_each_golden([](const kind& k, const golden& file) { expect_words_by_every_way(k.other(), file); });
}

// A keyed filter hashes by its kind's default hasher and passes the hash on. So a kind of every default hasher, in either
// access, and one that is built.
template <class F>
void expect_words_of_keys() {
    std::size_t files = 0;
    for_each_golden([&](const kind& k, const golden& file) {
        if (k.is.id != F::kind_id) return;
        ++files;
        auto keys = keyed<F>::create(parameters_of(k, file).as<typename F::parameters>()).value();
        for (std::uint64_t i = 0; i < file.keys; ++i) keys.add(std::to_string(i));
        EXPECT_EQ(words_of(keys.filter()), file.words);
    });
    EXPECT_GT(files, 0u);
}

TEST(golden_files, hold_the_words_of_keyed_filters) {
    for (const kind* each : all_subjects()) {
        const hash_spec spec = each->default_hasher();
        EXPECT_TRUE(spec == spec_of(xxh3{}) || spec == spec_of(xxh64{}) || spec == spec_of(fnv1{}))
            << each->is.name << " has another default hasher: it belongs below";
    }
    expect_words_of_keys<plain_blocked_bloom>();      // xxh3
    expect_words_of_keys<atomic_split_block_bloom>(); // xxh64
    expect_words_of_keys<plain_dcso_bloom>();         // fnv1
    for_each_golden([](const kind& k, const golden& file) {
        if (k.is.id != binary_fuse::kind_id) return;
        std::vector<std::string> keys;
        for (std::uint64_t i = 0; i < file.keys; ++i) keys.push_back(std::to_string(i));
        EXPECT_EQ(words_of(keyed<binary_fuse>::build(keys, file.wanted.value()).value().filter()),
                  file.words);
    });
}

// The words as they stand in the file: of a bit filter a view, of others what a load makes of them.
subject filter_over(const kind& k, const golden& file) {
    if (!k.is.bits)
        return k.loaded(filter_of(k, file).stored().fields, k.default_hasher(), file.words).value();
    auto memory = region::allocate(file.words.size() * 8).value();
    std::copy(file.words.begin(), file.words.end(), static_cast<std::uint64_t*>(memory.data()));
    return k.view_over(std::move(memory), parameters_of(k, file), k.default_hasher()).value();
}

TEST(golden_files, are_answered_alike_by_every_access_and_instruction_set) {
    std::size_t by_kernels = 0;
    for_each_golden([&](const kind& k, const golden& file) {
        const auto view = filter_over(k, file);
        const auto added = added_hashes(k, file);
        answers found(added.size());
        const std::size_t present = view.may_contain(added, found.span());
        if (k.is.exact) {
            EXPECT_EQ(present, added.size());
        }

        const auto asked = asked_hashes(k, file);
        answers got(asked.size());
        const auto expect_answers = [&](std::size_t count, const char* by) {
            std::vector<std::uint64_t> maybe;
            for (std::size_t i = 0; i < asked.size(); ++i)
                if (got[i]) maybe.push_back(file.keys + i);
            EXPECT_EQ(count, maybe.size()) << by;
            EXPECT_EQ(digest_of(maybe), file.maybe) << by << ": " << ::testing::PrintToString(maybe);
        };
        expect_answers(view.may_contain(asked, got.span()), "batch");
        std::size_t count = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) count += got.span()[i] = view.may_contain(asked[i]);
        expect_answers(count, "one by one");
        const query_kernels kernels(k, view);
        const auto expect_kernel = [&](detail::isa which, std::size_t kernel_count) {
            expect_answers(kernel_count, detail::name_of(which).data());
            by_kernels += which == detail::isa::scalar;
        };
        kernels.batch(asked, got.span(), expect_kernel);
        kernels.one_by_one(asked, got.span(), expect_kernel);
    });
    EXPECT_GE(by_kernels, 2 * detail::all_forms::size); // a file of each form, at least
}

} // namespace
} // namespace bouncer::test
