// any_filter does what the kind behind it does, or says why it cannot.
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "snapshot/streams.h"
#include "support/failures.h"

#include <bouncer/any_filter.h>

#include <algorithm>
#include <utility>

namespace bouncer::test {
namespace {

// The kind of what visit() hands on.
std::uint16_t visited_kind(const any_filter& any) {
    return any.visit([]<class F>(const F&) { return F::kind_id; });
}

// The same kind, hash, parameters and words.
bool same_state(const bouncer::detail::stored_form& a, const bouncer::detail::stored_form& b) {
    const auto words_of = [](const bouncer::detail::stored_form& form) {
        std::vector<std::uint64_t> out;
        for (const auto& each : form.segments) out.insert(out.end(), each.words, each.words + each.count);
        return out;
    };
    return a.kind == b.kind && a.layout_version == b.layout_version && a.hash == b.hash &&
           a.fields == b.fields && words_of(a) == words_of(b);
}

class any_filter_of : public kind_test {
  protected:
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    goal goal_{.keys = 200'000, .false_positive_rate = 0.01};
    std::vector<std::uint64_t> hashes_ = random_hashes(2'000, 1);
};
INSTANTIATE_TEST_SUITE_P(all, any_filter_of, atomic_subjects_that(&facts::incremental), subject_names);

TEST_P(any_filter_of, is_created_by_name_and_answers_as_its_kind) {
    auto any = any_filter::create(k.is.name, goal_).value();
    auto typed = k.create(goal_).value();
    EXPECT_EQ(any.kind(), k.is.id);
    EXPECT_EQ(any.kind_name(), k.is.name);
    EXPECT_EQ(any.parameters(), typed.describe());
    EXPECT_EQ(any.hash(), typed.hash());
    EXPECT_EQ(any.size_bytes(), typed.size_bytes());
    EXPECT_TRUE(any.writable());

    const std::span<const std::uint64_t> all(hashes_);
    for (int twice = 0; twice < 2; ++twice) EXPECT_EQ(any.add(all[0]).value(), typed.add(all[0]));
    EXPECT_EQ(any.add_batch(all.first(500)).value(), typed.add_batch(all.first(500)));
    for (int twice = 0; twice < 2; ++twice)
        EXPECT_EQ(any.test_and_add(all[500]).value(), typed.test_and_add(all[500]));
    answers a(500);
    answers b(500);
    EXPECT_EQ(any.test_and_add(all.subspan(501, 500), a.span()).value(),
              typed.test_and_add(all.subspan(501, 500), b.span()));
    for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(a[i], b[i]);
    if (k.is.bulk) {
        any.add_all(all, 2).value();
        typed.add_all(all, 2);
    } else {
        any.add_all(all, 1).value(); // one thread: the order of adds may matter
        typed.add_batch(all);
    }

    const auto asked = random_hashes(20'000, 2);
    answers of_any(asked.size());
    answers of_typed(asked.size());
    EXPECT_EQ(any.may_contain(asked, of_any.span()), typed.may_contain(asked, of_typed.span()));
    for (std::size_t i = 0; i < asked.size(); ++i) {
        ASSERT_EQ(of_any[i], of_typed[i]);
        ASSERT_EQ(any.may_contain(asked[i]), of_typed[i]);
    }
    EXPECT_EQ(any.fill_ratio().value(), typed.fill_ratio());
    if (k.is.sized) {
        EXPECT_EQ(any.approximate_size().value(), typed.approximate_size());
    } else {
        EXPECT_TRUE(fails_with(any.approximate_size(), error_code::unsupported, k.is.name));
    }
    EXPECT_EQ(any.expected_fpr().value(), typed.expected_fpr());
    if (k.is.has_capacity) {
        EXPECT_EQ(any.capacity(0.001).value(), typed.capacity(0.001));
        for (const double rate : {0.0, 1.0, -1.0, 2.0})
            EXPECT_TRUE(fails_with(any.capacity(rate), error_code::invalid_argument, "rate"));
    } else {
        EXPECT_TRUE(fails_with(any.capacity(0.001), error_code::unsupported, k.is.name));
    }
    EXPECT_EQ(visited_kind(any), k.is.id);
    EXPECT_TRUE(same_state(detail::storage_access::stored(any), typed.stored()));

    if (k.is.deletable) {
        EXPECT_EQ(any.count(all[0]).value(), typed.count(all[0]));
        any.remove(all[0]).value();
        typed.remove(all[0]);
        EXPECT_EQ(any.try_remove(all[1]).value(), typed.try_remove(all[1]));
        EXPECT_EQ(any.count(all[0]).value(), typed.count(all[0]));
    } else {
        EXPECT_TRUE(fails_with(any.remove(1), error_code::unsupported, k.is.name, "counting_bloom"));
        EXPECT_TRUE(fails_with(any.try_remove(1), error_code::unsupported, k.is.name));
        EXPECT_TRUE(fails_with(any.count(1), error_code::unsupported, k.is.name));
    }
    if (k.is.rotating) {
        any.rotate_to(1).value();
        typed.rotate_to(1).value();
        EXPECT_TRUE(fails_with(any.rotate_to(0), error_code::invalid_argument));
    } else {
        EXPECT_TRUE(fails_with(any.rotate_to(1), error_code::unsupported, k.is.name, "windowed_bloom"));
    }

    if (k.is.bits && k.is.foldable) {
        const auto folded = any.fold(2).value();
        EXPECT_EQ(folded.size_bytes() * 2, any.size_bytes());
        EXPECT_EQ(folded.fill_ratio().value(), typed.fold(2).value().fill_ratio());
        EXPECT_TRUE(fails_with(any.fold(0), error_code::invalid_argument));
    } else if (!k.is.foldable) {
        EXPECT_TRUE(fails_with(any.fold(2), error_code::unsupported, k.is.name));
    }
    any.clear().value();
    EXPECT_EQ(any.fill_ratio().value(), 0.0);
}

TEST_P(any_filter_of, merges_its_own_kind_only) {
    auto left = any_filter::create(k.is.name, goal_).value();
    auto right = any_filter::create(k.is.name, goal_).value();
    auto both = any_filter::create(k.is.name, goal_).value();
    left.add_batch(std::span(hashes_).first(1'000)).value();
    right.add_batch(std::span(hashes_).last(1'000)).value();
    both.add_batch(hashes_).value();
    if (k.is.mergeable) {
        const double after = left.merge(right).value();
        EXPECT_EQ(after, left.expected_fpr().value());
        if (k.is.commuting) {
            EXPECT_EQ(left.expected_fpr().value(), both.expected_fpr().value());
            EXPECT_EQ(left.fill_ratio().value(), both.fill_ratio().value());
        }
    } else {
        EXPECT_TRUE(fails_with(left.merge(right), error_code::unsupported, k.is.name));
    }
    for (const kind* each : filtered(&facts::incremental, words_access::atomic)) {
        if (each->is.id == k.is.id) continue;
        const auto other = any_filter::create(each->is.name, goal_).value();
        EXPECT_TRUE(fails_with(left.merge(other), error_code::mismatch, k.is.name, each->is.name));
    }
    const auto smaller = any_filter::create(k.is.name, {.keys = 1'000, .false_positive_rate = 0.01}).value();
    if (k.is.mergeable) {
        EXPECT_TRUE(fails_with(left.merge(smaller), error_code::mismatch));
    }
}

TEST_P(any_filter_of, goes_through_a_file_and_a_stream) {
    auto any = any_filter::create(k.is.name, goal_).value();
    any.add_batch(hashes_).value();
    save(any, path_, {.durable = false}).value();
    const auto typed = k.load(path_).value();
    EXPECT_EQ(typed.fill_ratio(), any.fill_ratio().value());
    std::vector<std::byte> bytes;
    save(any, into(bytes)).value();

    std::vector<any_filter> forms;
    forms.push_back(open(path_).value());
    if (k.is.mappable) {
        forms.push_back(open(path_, access::map).value());
        forms.push_back(open(path_, access::map, {}, verification::lazy).value());
    } else {
        EXPECT_TRUE(fails_with(open(path_, access::map), error_code::unsupported, k.is.name));
    }
    for (const std::size_t piece : {1u, 1000u, 5000u, 1u << 30})
        forms.push_back(open(out_of(bytes, piece)).value());
    for (const any_filter& each : forms) {
        EXPECT_EQ(each.kind(), k.is.id);
        EXPECT_EQ(visited_kind(each), k.is.id);
        EXPECT_TRUE(same_state(detail::storage_access::stored(each), typed.stored()));
    }
}

class mapped_any_filter_of : public any_filter_of {};
INSTANTIATE_TEST_SUITE_P(all, mapped_any_filter_of,
                         atomic_subjects_that([](const facts& is) { return is.incremental && is.mappable; }),
                         subject_names);

TEST_P(mapped_any_filter_of, can_be_asked_but_not_changed) {
    auto source = any_filter::create(k.is.name, goal_).value();
    source.add_batch(hashes_).value();
    save(source, path_, {.durable = false}).value();
    auto any = open(path_, access::map).value();
    EXPECT_FALSE(any.writable());
    EXPECT_EQ(any.size_bytes(), source.size_bytes());
    EXPECT_EQ(any.fill_ratio().value(), source.fill_ratio().value());
    EXPECT_EQ(any.fill_ratio().value(), source.fill_ratio().value());
    EXPECT_EQ(any.expected_fpr().value(), source.expected_fpr().value());
    EXPECT_EQ(any.expected_fpr().value(), source.expected_fpr().value());
    EXPECT_EQ(any.capacity(0.01).has_value(), source.capacity(0.01).has_value());
    if (const auto capacity = source.capacity(0.01)) {
        EXPECT_EQ(any.capacity(0.01).value(), *capacity);
    }

    const std::uint64_t fresh = random_hash(5, 5);
    answers a(1);
    const std::span<const std::uint64_t> one(&fresh, 1);
    const auto is_refused = [](const auto& got) {
        return fails_with(got, error_code::unsupported, "read-only", "access::load");
    };
    EXPECT_TRUE(is_refused(any.add(fresh)));
    EXPECT_TRUE(is_refused(any.add_batch(one)));
    EXPECT_TRUE(is_refused(any.test_and_add(fresh)));
    EXPECT_TRUE(is_refused(any.test_and_add(one, a.span())));
    EXPECT_TRUE(is_refused(any.add_all(one)));
    EXPECT_TRUE(is_refused(any.clear()));
    EXPECT_TRUE(is_refused(any.merge(source)));
    EXPECT_EQ(any.fill_ratio().value(), source.fill_ratio().value());

    // It is a source of a merge, and of a fold that can be changed.
    if (k.is.mergeable) {
        auto target = any_filter::create(k.is.name, goal_).value();
        EXPECT_TRUE(target.merge(any).has_value());
        EXPECT_EQ(target.fill_ratio().value(), source.fill_ratio().value());
    }
    if (k.is.bits && k.is.foldable) {
        auto folded = any.fold(2).value();
        EXPECT_TRUE(folded.writable());
        EXPECT_TRUE(folded.add(fresh).has_value());
    }
}

TEST(any_filter, of_an_unknown_name_lists_the_kinds) {
    const auto refused = any_filter::create("cuckoo_clock", {.keys = 10, .false_positive_rate = 0.1});
    EXPECT_TRUE(fails_with(refused, error_code::invalid_argument, "cuckoo_clock"));
    for (const kind_info& each : all_kinds)
        EXPECT_TRUE(fails_with(refused, error_code::invalid_argument, each.name));
    EXPECT_TRUE(fails_with(any_filter::create("", {.keys = 10, .false_positive_rate = 0.1}),
                           error_code::invalid_argument));
}

TEST(any_filter, hands_on_why_a_goal_is_refused) {
    EXPECT_TRUE(fails_with(any_filter::create("bloom", {.keys = 10, .false_positive_rate = 2.0}),
                           error_code::invalid_argument, "2"));
    EXPECT_FALSE(any_filter::create("bloom", {.keys = ~std::uint64_t{0}, .false_positive_rate = 1e-9}));
}

TEST(any_filter, keeps_the_hash_it_was_created_with) {
    const scratch_folder folder;
    const hash_spec spec = spec_of(murmur3{5});
    const auto any =
        any_filter::create("bloom", {.keys = 10, .false_positive_rate = 0.1}, {.hash = spec}).value();
    EXPECT_EQ(any.hash(), spec);
    save(any, folder / "f").value();
    EXPECT_EQ(open(folder / "f").value().hash(), spec);
    EXPECT_EQ(open(folder / "f", access::map).value().hash(), spec);
}

// It owns a filter of any form in one place: through moves, assignments across kinds and forms, and none twice.
TEST(any_filter_life, follows_moves_and_assignments) {
    const goal wanted{.keys = 1'000, .false_positive_rate = 0.01};
    const auto hashes = random_hashes(500, 3);
    const scratch_folder folder;
    const auto filled = [&](std::string_view kind) {
        auto out = any_filter::create(kind, wanted).value();
        out.add_batch(hashes).value();
        return out;
    };
    const auto has_all = [&](const any_filter& f) {
        return std::all_of(hashes.begin(), hashes.end(), [&](auto hash) { return f.may_contain(hash); });
    };
    save(filled("bloom"), folder / "bloom").value();
    for (const std::string_view kind : {"scalable_bloom", "counting_bloom", "blocked_bloom"}) {
        SCOPED_TRACE(kind);
        any_filter a = filled(kind);
        any_filter b = std::move(a);
        EXPECT_EQ(b.kind_name(), kind);
        EXPECT_TRUE(has_all(b));
        a = any_filter::build(hashes, wanted).value(); // one that was moved from, to a static kind
        EXPECT_EQ(a.kind_name(), "binary_fuse");
        EXPECT_TRUE(has_all(a));
        a = open(folder / "bloom", access::map).value(); // to a view
        EXPECT_EQ(a.kind_name(), "bloom");
        EXPECT_FALSE(a.writable());
        EXPECT_TRUE(has_all(a));
        any_filter& itself = b;
        b = std::move(itself);
        EXPECT_EQ(b.kind_name(), kind);
        EXPECT_TRUE(has_all(b));
        std::swap(a, b);
        EXPECT_EQ(a.kind_name(), kind);
        EXPECT_TRUE(has_all(a) && has_all(b));
        EXPECT_TRUE(a.writable() && !b.writable());
        // By visit() the filter itself is changed.
        const std::uint64_t other = random_hash(4, 1);
        a.visit([&]<class F>(F& f) {
            if constexpr (incremental<F>) f.add(other);
        });
        EXPECT_TRUE(a.may_contain(other));
    }
}

} // namespace
} // namespace bouncer::test
