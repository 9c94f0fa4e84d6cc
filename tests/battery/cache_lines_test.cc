// How many distinct cache lines a query and an add touch, proved by words that count: flat at most k, blocked 1, two
// lines 2, split block 1, register 1.
#include "support/counting_words.h"
#include "support/kinds.h" // layouts
#include "support/random_hashes.h"
#include "support/subject.h"

#include <bouncer/detail/probe.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::test {
namespace {

template <class Layout>
inline constexpr bool in_blocks = Layout::usual_form::block_words != 0;

// What a layout may touch: its block where a key has one, else a line for every bit.
template <class Layout>
std::size_t lines_allowed(const Layout& layout) {
    if (!in_blocks<Layout>) return layout.shape().k();
    return static_cast<std::size_t>((layout.word_count() / layout.at().units + 7) / 8);
}

// The most words that an add may write: of a block those of its groups, each once; else one for every bit.
template <class Layout>
std::size_t writes_allowed(const Layout& layout) {
    const math::geometry shape = layout.shape();
    if (!in_blocks<Layout>) return shape.k();
    return static_cast<std::size_t>(shape.groups * shape.sector_bits / 64);
}

// A filter over words that count. Thin, because it is compiled for every layout.
class counting_filter {
  public:
    virtual ~counting_filter() = default;
    virtual bool add(std::uint64_t hash) = 0;
    virtual bool may_contain(std::uint64_t hash) const = 0;
    virtual void clear() = 0;
    virtual std::set<std::uintptr_t> prefetched(std::uint64_t hash) const = 0; // lines

    access_log& log;
    const std::size_t lines_allowed;
    const std::size_t writes_allowed;

  protected:
    template <class Layout>
    counting_filter(const Layout& layout, access_log& touched)
        : log(touched), lines_allowed(test::lines_allowed(layout)),
          writes_allowed(test::writes_allowed(layout)) {}
};

template <class Layout, class Words>
class counting_filter_of final : public counting_filter {
  public:
    explicit counting_filter_of(const typename Layout::parameters& chosen)
        : counting_filter(Layout(chosen), Words::log),
          filter(bit_filter<Layout, Words>::create(chosen).value()) {}

    bool add(std::uint64_t hash) override { return filter.add(hash); }
    bool may_contain(std::uint64_t hash) const override { return filter.may_contain(hash); }
    void clear() override { filter.clear(); }
    std::set<std::uintptr_t> prefetched(std::uint64_t hash) const override {
        std::set<std::uintptr_t> lines;
        detail::each_line(filter.layout(), hash, [&](std::uint64_t word) {
            lines.insert(reinterpret_cast<std::uintptr_t>(filter.data() + word) / 64);
        });
        return lines;
    }

  private:
    bit_filter<Layout, Words> filter;
};

// The adds of the probes that this program inlines, with a vector unit where it is compiled for one: of what they touch their
// words are seen, not what vectors load.
template <class Layout>
class probed_filter final : public counting_filter {
  public:
    explicit probed_filter(const Layout& layout)
        : counting_filter(layout, words::log), layout_(layout), lines_((layout.word_count() + 7) / 8) {}

    bool add(std::uint64_t hash) override {
        return layout_.visit([&]<class Form>(Form) {
            return !detail::yes(
                detail::probe<Form>::template set<words>(lines_[0].words, layout_.at(), hash));
        });
    }
    bool may_contain(std::uint64_t hash) const override {
        return layout_.visit([&]<class Form>(Form) {
            return detail::yes(detail::probe<Form>::ask(lines_[0].words, layout_.at(), hash));
        });
    }
    void clear() override { std::fill(lines_.begin(), lines_.end(), line{}); }
    std::set<std::uintptr_t> prefetched(std::uint64_t) const override { return {}; }

  private:
    using words = counting_words<true>;
    struct alignas(64) line {
        std::uint64_t words[8] = {};
    };

    Layout layout_;
    std::vector<line> lines_;
};

// One at a time: the log is for the newest.
template <class Layout, bool Concurrent>
std::unique_ptr<counting_filter> counting(const typename Layout::parameters& chosen) {
    return std::make_unique<counting_filter_of<Layout, counting_words<Concurrent>>>(chosen);
}

// A plain or a concurrent one of this kind; every bit filter of all_filters.h.
std::unique_ptr<counting_filter> counting(const kind& k, const choice& chosen, bool concurrent) {
    std::unique_ptr<counting_filter> out;
    for_each_kind<plain_words>([&]<class F>() {
        if constexpr (is_bit_filter<F>::value) {
            if (F::kind_name != k.is.name) return;
            using layout = typename F::layout_type;
            const auto& parameters = chosen.as<typename F::parameters>();
            out = concurrent ? counting<layout, true>(parameters) : counting<layout, false>(parameters);
        }
    });
    return out;
}

class cache_lines : public kind_test {
  protected:
    void expect_few_lines(const choice& chosen, bool concurrent) const {
        SCOPED_TRACE(k.describe(chosen));
        const auto counted = counting(k, chosen, concurrent);
        const std::size_t allowed = counted->lines_allowed;
        auto& [lines, loads, writes] = counted->log;
        std::size_t most_by_query = 0;
        std::size_t too_many = 0;
        std::size_t not_prefetched = 0;
        std::size_t needless_writes = 0;
        for (const std::uint64_t hash : random_hashes(5'000, 1)) {
            counted->log = {};
            counted->add(hash);
            too_many += lines.size() > allowed || writes > counted->writes_allowed;
            // What is prefetched covers what the add touched, and is no more than the bound.
            const auto prefetched = counted->prefetched(hash);
            too_many += prefetched.size() > allowed;
            for (const std::uintptr_t line : lines) not_prefetched += !prefetched.contains(line);

            counted->log = {};
            EXPECT_TRUE(counted->may_contain(hash)); // a hit looks at every word of the key
            too_many += lines.size() > allowed;
            needless_writes += writes;
            most_by_query = std::max(most_by_query, lines.size());

            counted->log = {};
            counted->add(hash); // of a key that is there: a concurrent filter takes no ownership of its lines
            too_many += lines.size() > allowed;
            if (concurrent) needless_writes += writes;
        }
        for (const std::uint64_t hash : random_hashes(5'000, 2)) {
            counted->log = {};
            counted->may_contain(hash);
            too_many += lines.size() > allowed;
        }
        EXPECT_EQ(too_many, 0u);
        EXPECT_EQ(not_prefetched, 0u);
        EXPECT_EQ(needless_writes, 0u);
        EXPECT_EQ(most_by_query, allowed) << "the bound is loose";
    }
};
INSTANTIATE_TEST_SUITE_P(all, cache_lines, plain_subjects_that(&facts::bits), subject_names);

TEST_P(cache_lines, per_query_and_per_add) {
    for (const double rate : {0.1, 0.01, 1e-4})
        for (const auto& chosen : k.variants(20'000, rate)) {
            expect_few_lines(chosen, false);
            expect_few_lines(chosen, true);
        }
}

template <class Layout>
std::size_t allowed_by(const typename Layout::parameters& chosen) {
    return lines_allowed(Layout(chosen));
}

TEST(cache_line_bounds, are_as_few_as_promised) {
    EXPECT_EQ(allowed_by<detail::bloom_layout>({6'400, 7}), 7u);
    EXPECT_EQ(allowed_by<detail::partitioned_layout>({6'400, 7}), 7u);
    EXPECT_EQ(allowed_by<detail::dcso_layout>({6'391, 7}), 7u);
    EXPECT_EQ(allowed_by<detail::blocked_layout>({100, 8, block_form::lanes8}), 1u);
    EXPECT_EQ(allowed_by<detail::blocked_layout>({100, 16, block_form::lanes16}), 2u);
    EXPECT_EQ(allowed_by<detail::blocked_layout>({100, 6, block_form::sectors2}), 1u);
    EXPECT_EQ(allowed_by<detail::blocked_layout>({100, 8, block_form::sectors4}), 1u);
    EXPECT_EQ(allowed_by<detail::split_block_layout>({100}), 1u);
    EXPECT_EQ(allowed_by<detail::register_layout>({100, 5}), 1u);
}

// A concurrent add pays for every word it writes: a fresh key of an empty filter writes all of its words, one that is
// there none, and one that lacks a single bit no more than a fresh one.
TEST(cache_line_bounds, of_the_words_that_an_add_writes) {
    const auto expect_few = [](counting_filter& f, std::uint64_t least, std::uint64_t most) {
        EXPECT_EQ(f.writes_allowed, most);
        access_log& log = f.log;
        std::uint64_t fewest = ~std::uint64_t{0};
        std::uint64_t highest = 0;
        std::uint64_t needless = 0;
        std::size_t lines = 0;
        for (const std::uint64_t hash : random_hashes(1'000, 1)) {
            f.clear();
            log = {};
            EXPECT_TRUE(f.add(hash));
            fewest = std::min(fewest, log.writes);
            highest = std::max(highest, log.writes);
            lines = std::max(lines, log.lines.size());
            log = {};
            EXPECT_FALSE(f.add(hash));
            needless += log.writes;
        }
        EXPECT_GE(fewest, least);
        EXPECT_EQ(highest, most);
        EXPECT_EQ(needless, 0u);
        EXPECT_LE(lines, f.lines_allowed);
        for (const std::uint64_t hash : random_hashes(3'000, 2)) { // in a filter that fills up
            log = {};
            const bool changed = f.add(hash);
            EXPECT_EQ(changed, log.writes > 0);
            EXPECT_LE(log.writes, most);
        }
    };
    const auto expect_writes = [&]<class Layout>(Layout layout, std::uint64_t least, std::uint64_t most) {
        SCOPED_TRACE(std::string(Layout::kind_name) + ": " + Layout::describe(layout.params()));
        layout.visit([&]<class Form>(Form) { EXPECT_LE(most, Form::key_words); });
        counting_filter_of<Layout, counting_words<true>> f(layout.params());
        expect_few(f, least, most);
        probed_filter<Layout> probed(layout);
        expect_few(probed, least, most);
    };
    using detail::blocked_layout;
    expect_writes(blocked_layout({500, 8, block_form::lanes8}), 8, 8);
    expect_writes(blocked_layout({500, 16, block_form::lanes16}), 16, 16);
    for (std::uint32_t k = 2; k <= 16; k += 2)
        expect_writes(blocked_layout({500, k, block_form::sectors2}), 2, 2);
    for (std::uint32_t k = 4; k <= 16; k += 4)
        expect_writes(blocked_layout({500, k, block_form::sectors4}), 4, 4);
    expect_writes(detail::split_block_layout({500}), 4, 4);
    expect_writes(detail::register_layout({500, 5}), 1, 1);
    expect_writes(detail::bloom_layout({64'000, 7}), 1, 7);
    expect_writes(detail::dcso_layout({63'999, 7}), 1, 7);
}

// A miss of a half-full flat filter ends at the first zero bit: two lines on average, not k.
TEST(cache_line_bounds, are_not_reached_by_flat_misses) {
    const auto loads_per_miss = [](counting_filter& counted) {
        for (const std::uint64_t hash : random_hashes(20'000, 1)) counted.add(hash);
        counted.log = {};
        for (const std::uint64_t hash : random_hashes(10'000, 2)) counted.may_contain(hash);
        return static_cast<double>(counted.log.loads) / 10'000;
    };
    const goal wanted{.keys = 20'000, .false_positive_rate = 0.001};
    const auto flat = detail::bloom_layout::solve(wanted).value();
    EXPECT_NEAR(loads_per_miss(*counting<detail::bloom_layout, false>(flat)), 2, 0.1);
    const auto partitioned = detail::partitioned_layout::solve(wanted).value();
    EXPECT_NEAR(loads_per_miss(*counting<detail::partitioned_layout, false>(partitioned)), 2, 0.1);
}

} // namespace
} // namespace bouncer::test
