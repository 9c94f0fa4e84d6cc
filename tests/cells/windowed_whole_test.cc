// Unions, copies, files and refusals of windowed_bloom, and its schedule.
#include "cells/windowed_forms.h"
#include "support/failures.h"
#include "support/random_hashes.h"

#include <bouncer/snapshot.h>
#include <bouncer/window_schedule.h>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace bouncer::test {
namespace {

plain_windowed_bloom filled(const windowed_bloom_parameters& chosen, std::uint64_t stream,
                            std::uint64_t last) {
    auto f = plain_windowed_bloom::create(chosen).value();
    for (std::uint64_t epoch = 0; epoch <= last; ++epoch) {
        EXPECT_TRUE(f.rotate_to(epoch).has_value());
        f.add_batch(random_hashes(200, stream, epoch * 200));
    }
    return f;
}

TEST(windowed_whole, union_has_the_keys_of_both_each_in_its_step) {
    for (const auto& chosen : windowed_forms(4'000, 0.01)) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto a = filled(chosen, 1, 9);
        const auto b = filled(chosen, 2, 9);
        auto other_way = b.clone().value();
        const double after = a.merge(b).value();
        EXPECT_DOUBLE_EQ(after, a.expected_fpr());
        ASSERT_TRUE(other_way.merge(filled(chosen, 1, 9)).has_value());
        for (std::uint64_t epoch = 9; epoch < 12; ++epoch) {
            ASSERT_TRUE(a.rotate_to(epoch).has_value());
            ASSERT_TRUE(other_way.rotate_to(epoch).has_value());
            EXPECT_EQ(a.fill_ratio(), other_way.fill_ratio());
            for (const std::uint64_t stream : {1u, 2u})
                for (std::uint64_t old = epoch - a.window_steps(); old <= 9; ++old)
                    for (const std::uint64_t hash : random_hashes(200, stream, old * 200))
                        ASSERT_TRUE(a.may_contain(hash)) << stream << " of " << old << " at " << epoch;
        }
    }
}

TEST(windowed_whole, union_leaves_out_the_spare_column) {
    const auto chosen = windowed_forms(4'000, 0.01)[5];
    auto a = plain_windowed_bloom::create(chosen).value();
    ASSERT_TRUE(a.rotate_to(9).has_value());
    const auto b = filled(chosen, 2, 9); // step 2 is in its spare column, not yet swept
    ASSERT_TRUE(a.merge(b).has_value());
    ASSERT_TRUE(a.rotate_to(10).has_value());
    std::size_t back = 0;
    for (const std::uint64_t hash : random_hashes(200, 2, 2 * 200)) back += a.may_contain(hash);
    EXPECT_LT(back, 10u);
}

TEST(windowed_whole, union_refuses_what_differs) {
    const auto forms = windowed_forms(4'000, 0.01);
    auto a = filled(forms[5], 1, 9);
    const auto before = a.clone().value();
    EXPECT_TRUE(fails_with(a.merge(filled(forms[5], 2, 8)), error_code::mismatch, "9", "8", "rotate"));
    EXPECT_TRUE(fails_with(a.merge(filled(forms[4], 2, 9)), error_code::mismatch, "live 6"));
    auto seeded = plain_windowed_bloom::create(forms[5], {.hash = spec_of(xxh3{5})}).value();
    ASSERT_TRUE(seeded.rotate_to(9).has_value());
    EXPECT_TRUE(fails_with(a.merge(seeded), error_code::mismatch));
    EXPECT_TRUE(fails_with(a.merge_if_within(filled(forms[5], 2, 9), 1e-9), error_code::full));
    EXPECT_TRUE(fails_with(a.merge_if_within(filled(forms[5], 2, 9), 1.5), error_code::invalid_argument));
    EXPECT_TRUE(a == before);
    EXPECT_TRUE(a.merge_if_within(filled(forms[5], 2, 9), 0.5).has_value());
}

TEST(windowed_whole, file_keeps_keys_epoch_and_generations) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("windowed_" + std::to_string(::getpid()) + ".bnc"))
            .string();
    for (const auto& chosen : windowed_forms(4'000, 0.01)) {
        SCOPED_TRACE(plain_windowed_bloom::describe(chosen));
        auto f = filled(chosen, 1, 9);
        ASSERT_TRUE(save(f, path).has_value());
        auto loaded = load<atomic_windowed_bloom>(path).value();
        EXPECT_TRUE(loaded == f);
        const auto view = map<windowed_bloom_view>(path, verification::eager).value();
        EXPECT_EQ(view.epoch(), 9u);
        EXPECT_TRUE(view == f);
        for (std::uint64_t epoch = 10; epoch < 20; ++epoch) {
            ASSERT_TRUE(loaded.rotate_to(epoch).has_value());
            ASSERT_TRUE(f.rotate_to(epoch).has_value());
            EXPECT_TRUE(loaded == f);
        }
    }
    {
        auto shared = open_shared<atomic_windowed_bloom>(path).value();
        ASSERT_TRUE(shared->rotate_to(12).has_value());
        shared->add(77);
        ASSERT_TRUE(shared.seal().has_value());
    }
    const auto after = load<plain_windowed_bloom>(path).value();
    EXPECT_EQ(after.epoch(), 12u);
    EXPECT_TRUE(after.may_contain(77));
    std::remove(path.c_str());
}

TEST(windowed_whole, words_before_the_cells_that_it_does_not_write_are_corrupt) {
    const auto fields =
        detail::storage_access::stored(plain_windowed_bloom::create(windowed_forms(100, 0.01)[0]).value())
            .fields;
    const auto with = [&](std::size_t word, std::uint64_t value) {
        auto f = detail::storage_access::for_loading<plain_windowed_bloom>(fields, {}, {}).value();
        detail::storage_access::segments(f)[0][word] = value;
        return detail::storage_access::check_loaded(f);
    };
    EXPECT_TRUE(with(0, plain_windowed_bloom::epoch_most).has_value());
    EXPECT_TRUE(
        fails_with(with(0, plain_windowed_bloom::epoch_most + 1), error_code::corrupt, "windowed_bloom"));
    EXPECT_TRUE(fails_with(with(0, ~std::uint64_t{0}), error_code::corrupt));
    EXPECT_TRUE(fails_with(with(1, 1), error_code::corrupt));
    EXPECT_TRUE(fails_with(with(15, 1), error_code::corrupt));
    // A mapped one is looked at too.
    auto f = detail::storage_access::for_loading<plain_windowed_bloom>(fields, {}, {}).value();
    const auto words = detail::storage_access::segments(f)[0];
    words[0] = ~std::uint64_t{0};
    EXPECT_TRUE(fails_with(detail::storage_access::over<windowed_bloom_view>(
                               region::borrow(words.data(), words.size_bytes()), fields, {}),
                           error_code::corrupt));
}

TEST(windowed_whole, parameters_that_make_no_sense_are_refused) {
    using w = plain_windowed_bloom;
    EXPECT_TRUE(fails_with(w::create({.units = 0}), error_code::invalid_argument, "units", "0"));
    EXPECT_TRUE(fails_with(w::create({.units = 1, .live = 1}), error_code::invalid_argument, "live", "1"));
    EXPECT_TRUE(fails_with(w::create({.units = 1, .live = 8}), error_code::invalid_argument, "live", "8"));
    EXPECT_TRUE(fails_with(w::create({.units = 1, .k = 7}), error_code::invalid_argument, "7"));
    EXPECT_TRUE(fails_with(w::create({.units = 1, .k = 18}), error_code::invalid_argument, "18"));
    EXPECT_TRUE(fails_with(w::create({.units = 65, .k = 7, .form = cell_form::flat}),
                           error_code::invalid_argument, "64", "65"));
    EXPECT_TRUE(fails_with(w::create({.units = ~std::uint64_t{0}}), error_code::too_large));
    EXPECT_TRUE(fails_with(w::create({.units = 1, .form = static_cast<cell_form>(9)}),
                           error_code::invalid_argument, "form", "9"));
    EXPECT_TRUE(
        fails_with(w::solve({.keys = 10, .false_positive_rate = 0.01}, 9), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(w::solve({.keys = 10, .size_bytes = 128}), error_code::invalid_argument, "128"));
    EXPECT_TRUE(
        fails_with(w::solve({.keys = 1'000'000, .false_positive_rate = 0.01, .size_bytes = 1'000'000}),
                   error_code::too_large, "1000000"));
    EXPECT_LE(w::size_bytes_of(w::solve({.keys = 10'000, .size_bytes = 40'000}).value()), 40'000u);
}

TEST(window_schedule_of, a_day_in_six_steps) {
    using namespace std::chrono_literals;
    const auto day = window_schedule::make(24h, 6).value();
    EXPECT_EQ(day.step(), 4h);
    EXPECT_EQ(day.live(), 7u);
    const window_schedule::clock_time start{};
    EXPECT_EQ(day.epoch_at(start), 0u);
    EXPECT_EQ(day.epoch_at(start - 1h), 0u);
    EXPECT_EQ(day.epoch_at(start + 4h - 1ns), 0u);
    EXPECT_EQ(day.epoch_at(start + 4h), 1u);
    EXPECT_EQ(day.epoch_at(day.begin_of(123'456)), 123'456u);
    EXPECT_EQ(day.epoch_at(day.begin_of(123'456) - 1ns), 123'455u);
    EXPECT_GT(day.epoch_now(), 100'000u);
}

TEST(window_schedule_of, nonsense_is_refused) {
    using namespace std::chrono_literals;
    EXPECT_TRUE(fails_with(window_schedule::make(24h, 0), error_code::invalid_argument, "0"));
    EXPECT_TRUE(fails_with(window_schedule::make(24h, 7), error_code::invalid_argument, "7"));
    EXPECT_TRUE(fails_with(window_schedule::make(0h, 6), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(window_schedule::make(-1h, 6), error_code::invalid_argument));
    EXPECT_TRUE(fails_with(window_schedule::make(7ns, 6), error_code::invalid_argument, "7"));
}

} // namespace
} // namespace bouncer::test
