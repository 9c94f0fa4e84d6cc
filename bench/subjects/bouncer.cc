// The library's own kinds as subjects: every kind of all_filters.h with atomic and with plain words, the layout for
// adds, and the plain filter behind a lock.
#include "lists.h"

#include <bouncer/all_filters.h>
#include <bouncer/locked.h>

#include <cmath>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

bouncer::goal goal_of(const request& wanted) {
    bouncer::goal goal{.keys = wanted.keys};
    if (wanted.bits_per_key > 0)
        goal.size_bytes =
            static_cast<std::uint64_t>(std::ceil(wanted.bits_per_key * static_cast<double>(wanted.keys) / 8));
    else
        goal.false_positive_rate = wanted.fpr;
    switch (wanted.prefer) {
    case preference::reads: goal.prefer = bouncer::prefer::reads; break;
    case preference::adds: goal.prefer = bouncer::prefer::adds; break;
    case preference::space: goal.prefer = bouncer::prefer::space; break;
    }
    return goal;
}

// 0, but only at run time, and not before the answer is known: the next hash waits for it.
std::uint64_t zero_after(bool answer) {
    std::uint64_t known = answer;
    __asm__("" : "+r"(known));
    return known >> 1;
}

template <class F>
class own_subject final : public subject {
  public:
    explicit own_subject(F filter) : filter_(std::move(filter)) {}

    std::uint64_t size_bytes() const override { return filter_.size_bytes(); }
    void clear() override { filter_.clear(); }

    std::size_t query(std::span<const std::uint64_t> hashes) const override {
        std::size_t found = 0;
        for (const std::uint64_t hash : hashes) found += filter_.may_contain(hash);
        return found;
    }
    std::size_t query_batch(std::span<const std::uint64_t> hashes, std::span<bool> answers) const override {
        return filter_.may_contain(hashes, answers);
    }
    std::size_t query_dependent(std::span<const std::uint64_t> hashes) const override {
        std::size_t found = 0;
        std::uint64_t zero = 0;
        for (const std::uint64_t hash : hashes) {
            const bool answer = filter_.may_contain(hash + zero);
            zero = zero_after(answer);
            found += answer;
        }
        return found;
    }
    void add(std::span<const std::uint64_t> hashes) override {
        for (const std::uint64_t hash : hashes) filter_.add(hash);
    }
    void add_batch(std::span<const std::uint64_t> hashes) override { // as the peers, none of which counts
        if constexpr (requires { filter_.add_batch(hashes, bouncer::uncounted); })
            filter_.add_batch(hashes, bouncer::uncounted);
        else
            filter_.add_batch(hashes);
    }
    void add_all(std::span<const std::uint64_t> hashes, unsigned threads) override {
        if constexpr (requires { filter_.add_all(hashes, threads); }) (void)filter_.add_all(hashes, threads);
    }

  private:
    F filter_;
};

template <class F, preference Prefer>
std::unique_ptr<subject> make(const request& wanted) {
    request mine = wanted;
    if (Prefer != preference::reads) mine.prefer = Prefer;
    bouncer::filter_options options;
    options.memory.huge_pages = wanted.pages == page_size::huge;
    auto made = F::create(goal_of(mine), options);
    if (!made) return nullptr;
    return std::make_unique<own_subject<F>>(std::move(*made));
}

constexpr unsigned can_all = can_query | can_query_batch | can_add | can_add_batch | can_add_all;
constexpr unsigned can_locked = can_query | can_query_batch | can_add | can_add_batch | can_share;

struct own_list {
    own_list() {
        add_kinds<bouncer::atomic_words>("atomic_", can_all | can_share);
        types.push_back({"atomic_blocked_bloom_adds", "blocked_bloom", false, can_all | can_share,
                         make<bouncer::atomic_blocked_bloom, preference::adds>});
        add_kinds<bouncer::plain_words>("plain_", can_all);
        using plain = bouncer::plain_blocked_bloom;
        types.push_back({"locked_mutex", "blocked_bloom", true, can_locked,
                         make<bouncer::locked<plain, std::mutex>, preference::reads>});
        types.push_back({"locked_shared_mutex", "blocked_bloom", true, can_locked,
                         make<bouncer::locked<plain, std::shared_mutex>, preference::reads>});
    }

    template <class Words>
    void add_kinds(const std::string& prefix, unsigned can) {
        bouncer::for_each_kind<Words>([&]<class F>() {
            if constexpr (bouncer::incremental<F>) { // static kinds have rows of their own: static_kinds.cc
                const auto& kind = names.emplace_back(F::kind_name);
                const auto& name = names.emplace_back(prefix + kind);
                // Only bit filters are built by several threads; the others add.
                constexpr bool builds = requires(F & f, std::span<const std::uint64_t> hashes) {
                    f.add_all(hashes, 1u);
                };
                types.push_back({name.c_str(), kind.c_str(), false,
                                 builds ? can : can & ~unsigned{can_add_all}, make<F, preference::reads>});
            }
        });
    }

    std::deque<std::string> names; // a deque: types point into it
    std::vector<subject_type> types;
};

} // namespace

std::span<const subject_type> bouncer_subjects() {
    static const own_list list;
    return list.types;
}

} // namespace bench
