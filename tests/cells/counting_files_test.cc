// Counters in files: saved, loaded, mapped and shared they are the same; fields that cannot be are refused.
#include "cells/counting_forms.h"
#include "format/compression.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

class counting_files : public ::testing::Test {
  protected:
    scratch_folder folder_;
    std::string path_ = folder_ / "counters";
};

atomic_counting_bloom made_of(const counting_bloom_parameters& chosen) {
    auto f = atomic_counting_bloom::create(chosen).value();
    f.add_batch(random_hashes(1'000, 1));
    for (int i = 0; i < 20; ++i) f.add(random_hash(1, 3)); // sticky, where counters are narrow
    return f;
}

TEST_F(counting_files, round_trip) {
    for_each_form(1'000, 0.01, [&](const counting_bloom_parameters& chosen) {
        for (const bool compress : {false, true}) {
            if (compress && !detail::check_compression()) continue;
            auto f = made_of(chosen);
            save(f, path_, {.compress = compress, .durable = false}).value();
            auto atomic = load<atomic_counting_bloom>(path_);
            ASSERT_TRUE(atomic.has_value()) << atomic.error().message;
            EXPECT_TRUE(*atomic == f);
            auto plain = load<plain_counting_bloom>(path_);
            ASSERT_TRUE(plain.has_value()) << plain.error().message;
            EXPECT_TRUE(*plain == f);
            // Keys that were there before can be removed after.
            for (std::uint64_t i = 0; i < 500; ++i) {
                plain->remove(random_hash(1, i));
                f.remove(random_hash(1, i));
            }
            EXPECT_TRUE(*plain == f);
        }
    });
}

TEST_F(counting_files, mapped) {
    for_each_form(1'000, 0.01, [&](const counting_bloom_parameters& chosen) {
        const auto f = made_of(chosen);
        save(f, path_, {.durable = false}).value();
        for (const auto how : {verification::lazy, verification::eager}) {
            const auto view = bouncer::map<counting_bloom_view>(path_, how);
            ASSERT_TRUE(view.has_value()) << view.error().message;
            EXPECT_TRUE(*view == f);
            EXPECT_EQ(view->count(random_hash(1, 3)), f.count(random_hash(1, 3)));
            EXPECT_EQ(view->expected_fpr(), f.expected_fpr());
            const auto asked = random_hashes(3'000, 2);
            answers got(asked.size());
            view->may_contain(asked, got.span());
            for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(got[i], f.may_contain(asked[i]));
            EXPECT_EQ(view->to_bloom().has_value(), chosen.form == cell_form::flat);
        }
    });
}

TEST_F(counting_files, shared) {
    for_each_form(1'000, 0.01, [&](const counting_bloom_parameters& chosen) {
        auto f = made_of(chosen);
        save(f, path_, {.durable = false}).value();
        {
            auto one = open_shared<atomic_counting_bloom>(path_);
            ASSERT_TRUE(one.has_value()) << one.error().message;
            auto other = open_shared<atomic_counting_bloom>(path_);
            ASSERT_TRUE(other.has_value()) << other.error().message;
            for (std::uint64_t i = 0; i < 500; ++i) {
                (*one)->add(random_hash(3, i));
                (*other)->remove(random_hash(1, 2 * i));
                EXPECT_TRUE((*other)->may_contain(random_hash(3, i)));
                f.add(random_hash(3, i));
                f.remove(random_hash(1, 2 * i));
            }
            EXPECT_TRUE(**one == f);
            EXPECT_TRUE(**other == f);
            one->sync().value();
        }
        {
            auto last = open_shared<atomic_counting_bloom>(path_).value();
            last.seal().value();
        }
        EXPECT_TRUE(load<plain_counting_bloom>(path_).value() == f);
    });
}

// ---- fields from a file that lies ----------------------------------------------------------------------------------

TEST_F(counting_files, refuse_fields_that_are_no_parameters) {
    using fields = std::vector<std::uint64_t>;
    const fields good{1'024, 6, 8, 1};
    EXPECT_EQ(detail::storage_access::words<atomic_counting_bloom>(good).value(), 128u);
    const std::uint64_t far = std::uint64_t{1} << 32;
    const auto refused = [](const fields& given, error_code code) {
        EXPECT_TRUE(fails_with(detail::storage_access::words<atomic_counting_bloom>(given), code));
        EXPECT_TRUE(
            fails_with(detail::storage_access::for_loading<atomic_counting_bloom>(given, {}, {}), code));
        EXPECT_TRUE(fails_with(
            detail::storage_access::over<counting_bloom_view>(region::allocate(1'024, {}).value(), given, {}),
            code));
    };
    for (const fields& given : {fields{},
                                fields{1'024},
                                fields{1'024, 6, 8},
                                fields{1'024, 6, 8, 1, 0}, // too few and too many
                                fields{0, 6, 8, 1},
                                fields{1'000, 6, 8, 1}, // units
                                fields{1'024, 0, 8, 1},
                                fields{1'024, 33, 8, 1},
                                fields{1'024, far + 6, 8, 1},
                                fields{1, 7, 8, 0},
                                fields{1'024, 6, 0, 1},
                                fields{1'024, 6, 7, 1},
                                fields{1'024, 6, far + 8, 1},
                                fields{1'024, 6, 64, 1},
                                fields{1'024, 6, 8, 2},
                                fields{1'024, 6, 8, 256},
                                fields{1'024, 6, 8, 257},
                                fields{1'024, 6, 8, far + 1},
                                fields{1'024, 6, 4, 1},
                                fields{1'024, 6, 16, 0}})
        refused(given, error_code::invalid_argument);
    refused({~std::uint64_t{63}, 6, 8, 1}, error_code::too_large);
    refused({~std::uint64_t{0}, 6, 4, 0}, error_code::too_large);
    refused({(std::uint64_t{1} << 40) + 1, 6, 8, 0}, error_code::too_large);
}

TEST_F(counting_files, refuse_words_that_are_too_few_or_misaligned) {
    const std::vector<std::uint64_t> fields{1'024, 6, 8, 1}; // 1024 bytes
    EXPECT_TRUE(fails_with(
        detail::storage_access::over<counting_bloom_view>(region::allocate(960, {}).value(), fields, {}),
        error_code::corrupt, "128"));
    auto enough = region::allocate(2'048, {}).value();
    const auto* const off = static_cast<const std::byte*>(enough.data()) + 8;
    EXPECT_TRUE(
        fails_with(detail::storage_access::over<counting_bloom_view>(region::borrow(off, 1'024), fields, {}),
                   error_code::corrupt, "8"));
    EXPECT_TRUE(
        detail::storage_access::over<counting_bloom_view>(region::borrow(enough.data(), 1'024), fields, {}));
}

// Any words are counters: a filter over them works, whatever they say.
TEST_F(counting_files, of_random_words_work) {
    for_each_form(1'000, 0.01, [](const counting_bloom_parameters& chosen) {
        auto f = atomic_counting_bloom::create(chosen).value();
        const auto words = detail::storage_access::segments(f).front();
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_hash(9, i);
        const auto hashes = random_hashes(2'000, 10);
        for (const std::uint64_t hash : hashes) {
            const std::uint64_t before = f.count(hash);
            f.add(hash);
            EXPECT_TRUE(f.may_contain(hash));
            EXPECT_GE(f.count(hash), before);
            f.remove(hash);
        }
        EXPECT_TRUE(f.merge(f));
        EXPECT_GT(f.expected_fpr(), 0);
    });
}

} // namespace
} // namespace bouncer::test
