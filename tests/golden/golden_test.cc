// Every form of every kind, on every machine and with every instruction set, gives the words of the golden files.
#include "golden/golden.h"

#include "support/random_hashes.h"

#include <gtest/gtest.h>

#include <set>

namespace bouncer::test {
namespace {

template <class Check>
void for_each_golden(Check check) {
    for (const auto& path : golden_files()) {
        SCOPED_TRACE(path.filename().string());
        const golden file = parse_golden(text_of(path));
        EXPECT_TRUE(with_kind_of(file, [&]<class F>() { check.template operator()<F>(file); }));
    }
}

// All ways to fill a filter of this access.
template <class F>
void expect_words_by_every_add(const golden& file) {
    const auto hashes = added_hashes<F>(file);
    const std::span<const std::uint64_t> all(hashes);
    {
        auto f = empty_filter<F>(file);
        for (const std::uint64_t hash : hashes) f.add(hash);
        EXPECT_EQ(words_of(f), file.words) << "one by one";
        EXPECT_EQ(words_of(f.clone().value()), file.words) << "clone";
        if constexpr (requires { f.view(); }) {
            EXPECT_EQ(words_of(f.view()), file.words) << "view";
        }
        if constexpr (foldable<F>) {
            EXPECT_EQ(words_of(f.fold(1).value()), file.words) << "fold by one";
        }
    }
    {
        auto f = empty_filter<F>(file);
        f.add_batch(hashes);
        EXPECT_EQ(words_of(f), file.words) << "batch";
    }
    {
        auto f = empty_filter<F>(file);
        answers got(hashes.size());
        f.test_and_add(hashes, got.span());
        EXPECT_EQ(words_of(f), file.words) << "test_and_add";
    }
    if constexpr (commuting_adds<F> && requires(F f) { f.add_all(hashes, 3); }) {
        auto f = empty_filter<F>(file);
        f.add_all(hashes, 3);
        EXPECT_EQ(words_of(f), file.words) << "three threads";
    }
    if constexpr (commuting_adds<F> && mergeable<F>) {
        auto first = empty_filter<F>(file);
        auto second = empty_filter<F>(file);
        first.add_batch(all.first(hashes.size() / 2));
        second.add_batch(all.subspan(hashes.size() / 2));
        EXPECT_TRUE(first.merge(second).has_value());
        EXPECT_EQ(words_of(first), file.words) << "merge";
    }
    {
        auto keys = keyed<F>::create(parameters_of<F>(file)).value();
        for (std::uint64_t i = 0; i < file.number("keys"); ++i) keys.add(std::to_string(i));
        EXPECT_EQ(words_of(keys.filter()), file.words) << "keyed";
    }
    if constexpr (requires(F f) { f.add_release(0); }) {
        auto f = empty_filter<F>(file);
        for (const std::uint64_t hash : hashes) f.add_release(hash);
        EXPECT_EQ(words_of(f), file.words) << "add_release";
    }
}

// All ways to build a static filter.
template <class F>
void expect_words_by_every_build(const golden& file) {
    const auto f = filter_of<F>(file);
    EXPECT_EQ(words_of(f), file.words);
    EXPECT_EQ(words_of(f.clone().value()), file.words) << "clone";
    EXPECT_EQ(words_of(f.view()), file.words) << "view";
    if constexpr (buildable<F>) {
        auto shuffled = added_hashes<F>(file);
        std::reverse(shuffled.begin(), shuffled.end());
        shuffled.insert(shuffled.end(), shuffled.begin() + 7, shuffled.begin() + 50);
        EXPECT_EQ(words_of(F::build(shuffled, goal_of(file), {.threads = 3}).value()), file.words)
            << "three threads, another order, some keys twice";
        std::vector<std::string> keys;
        for (std::uint64_t i = 0; i < file.number("keys"); ++i) keys.push_back(std::to_string(i));
        EXPECT_EQ(words_of(keyed<F>::build(keys, goal_of(file)).value().filter()), file.words) << "keyed";
    }
}

template <class F>
void expect_words_by_every_way(const golden& file) {
    if constexpr (incremental<F>)
        expect_words_by_every_add<F>(file);
    else
        expect_words_by_every_build<F>(file);
}

TEST(golden_files, are_there_for_every_kind) {
    std::set<std::string> kinds;
    for (const auto& path : golden_files()) kinds.insert(parse_golden(text_of(path)).fields.at("kind"));
    for (const kind_info& kind : all_kinds) EXPECT_TRUE(kinds.contains(std::string(kind.name))) << kind.name;
    EXPECT_EQ(kinds.size(), all_kinds.size());
}

TEST(golden_files, say_what_they_hold) {
    for_each_golden([]<class F>(const golden& file) {
        const auto chosen = parameters_of<F>(file);
        EXPECT_EQ(file.fields.at("parameters"), F::describe(chosen));
        EXPECT_EQ(file.number("layout_version"), F::layout_version);
        EXPECT_EQ(file.fields.at("hash"), to_string(spec_of(typename F::default_hasher{})));
        if constexpr (is_bit_filter<F>::value) {
            EXPECT_EQ(file.words.size() * 8, F::size_bytes_of(chosen));
        }
        EXPECT_LE(file.words.size(), is_bit_filter<F>::value ? 64u : 512u);
        EXPECT_EQ(file.fields.at("maybe").empty(),
                  buildable_exactly<F> || F::kind_id == plain_fingerprint_set::kind_id)
            << "no false positive to test with";
    });
}

TEST(golden_files, hold_the_words_of_plain_filters) {
    for_each_golden([]<class F>(const golden& file) { expect_words_by_every_way<F>(file); });
}

TEST(golden_files, hold_the_words_of_atomic_filters) {
    for_each_golden([]<class F>(const golden& file) { expect_words_by_every_way<other_form<F>>(file); });
}

// The kernel of a layout in another instruction set's table: the entry that holds it in the active one.
detail::query_kernel kernel_of(const detail::kernel_table& table, detail::query_kernel active) {
    if (active == nullptr) return nullptr;
    for (const auto entry :
         {&detail::kernel_table::lanes8, &detail::kernel_table::lanes16, &detail::kernel_table::split_block})
        if (detail::active_kernels().*entry == active) return table.*entry;
    const auto in_array = [&](auto entries) -> detail::query_kernel {
        for (std::size_t i = 0; i < (table.*entries).size(); ++i)
            if ((detail::active_kernels().*entries)[i] == active) return (table.*entries)[i];
        return nullptr;
    };
    if (const auto found = in_array(&detail::kernel_table::registers); found != nullptr) return found;
    if (const auto found = in_array(&detail::kernel_table::sectors2); found != nullptr) return found;
    return in_array(&detail::kernel_table::sectors4);
}

// The words as they stand in the file: of a bit filter a view, of others what a load makes of them.
template <class F>
auto filter_over(const golden& file) {
    const hash_spec spec = spec_of(typename F::default_hasher{});
    if constexpr (is_bit_filter<F>::value) {
        auto memory = region::allocate(file.words.size() * 8).value();
        std::copy(file.words.begin(), file.words.end(), static_cast<std::uint64_t*>(memory.data()));
        return view_form<F>::over(const_words(std::move(memory)), parameters_of<F>(file), spec).value();
    } else {
        auto filled = filter_of<F>(file);
        auto out = F::for_loading(filled.stored().fields, spec, {}).value();
        std::size_t next = 0;
        for (const std::span<std::uint64_t> segment : out.loading_segments())
            for (std::uint64_t& word : segment) word = file.words.at(next++);
        return out;
    }
}

TEST(golden_files, are_answered_alike_by_every_access_and_instruction_set) {
    for_each_golden([]<class F>(const golden& file) {
        const auto view = filter_over<F>(file);
        const auto added = added_hashes<F>(file);
        answers found(added.size());
        const std::size_t present = view.may_contain(added, found.span());
        if (F::no_false_negatives) {
            EXPECT_EQ(present, added.size());
        }

        std::set<std::uint64_t> maybe;
        std::istringstream numbers(file.fields.at("maybe"));
        for (std::uint64_t key = 0; numbers >> key;) maybe.insert(key);
        const auto asked = asked_hashes<F>(file);
        const std::uint64_t first = file.number("keys");
        answers got(asked.size());
        const auto expect_answers = [&](std::size_t count, const char* by) {
            EXPECT_EQ(count, maybe.size()) << by;
            for (std::size_t i = 0; i < asked.size(); ++i)
                EXPECT_EQ(got[i], maybe.contains(first + i)) << "key " << first + i << " by " << by;
        };
        expect_answers(view.may_contain(asked, got.span()), "batch");
        std::size_t count = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) count += got.span()[i] = view.may_contain(asked[i]);
        expect_answers(count, "one by one");
        if constexpr (requires { view.layout().kernel(); }) {
            for (const auto which : {detail::isa::avx2, detail::isa::avx512}) {
                const detail::kernel_table* const table = detail::kernels_of(which);
                if (table == nullptr) continue;
                const auto kernel = kernel_of(*table, view.layout().kernel());
                if (kernel == nullptr) continue;
                expect_answers(kernel(view.words().line(0), view.layout().block_count(), asked.data(),
                                      asked.size(), got.span().data()),
                               detail::name_of(which).data());
            }
        }
    });
}

} // namespace
} // namespace bouncer::test
