// The forms of what any_filter holds: detail/held_filter.h over filters of each kind.
#pragma once

#include <bouncer/any_filter.h>
#include <bouncer/detail/parallel.h>

#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace bouncer::detail {

template <class F>
inline constexpr form_info form_of{
    .index = index_in<F>(held_forms{}),
    .kind = {F::kind_id, F::kind_name},
    .is_static = !incremental<typename F::template with_words<atomic_words>>,
    .is_view = !F::words_type::writable,
};

// What every form does.
template <class F>
class held_reader : public held_filter {
  public:
    explicit held_reader(F&& filter) noexcept : filter_(std::move(filter)) {}
    const form_info& form() const noexcept final { return form_of<F>; }
    const void* filter() const noexcept final { return &filter_; }

    std::string describe() const final { return filter_.describe(); }
    hash_spec hash() const noexcept final { return filter_.hash(); }
    std::uint64_t size_bytes() const noexcept final { return filter_.size_bytes(); }
    stored_form stored() const final { return storage_access::stored(filter_); }
    bool may_contain(std::uint64_t hash) const noexcept final { return filter_.may_contain(hash); }
    std::size_t may_contain(std::span<const std::uint64_t> hashes,
                            std::span<bool> answers) const noexcept final {
        return filter_.may_contain(hashes, answers);
    }

    result<std::uint64_t> count(std::uint64_t hash) const final {
        if constexpr (requires { filter_.count(hash); })
            return filter_.count(hash);
        else
            return held_filter::count(hash);
    }
    result<any_filter> fold(std::uint64_t factor, const memory_options& memory) const final {
        if constexpr (foldable<F>) {
            auto out = filter_.template fold<atomic_words>(factor, memory);
            if (!out) return out.error();
            return any_filter(std::move(*out));
        } else {
            return held_filter::fold(factor, memory);
        }
    }
    result<double> fill_ratio() const final {
        if constexpr (requires { filter_.fill_ratio(); })
            return filter_.fill_ratio();
        else
            return held_filter::fill_ratio();
    }
    result<double> approximate_size() const final {
        if constexpr (requires { filter_.approximate_size(); })
            return filter_.approximate_size();
        else
            return held_filter::approximate_size();
    }
    result<double> expected_fpr() const final {
        if constexpr (requires { filter_.expected_fpr(); })
            return filter_.expected_fpr();
        else
            return held_filter::expected_fpr();
    }
    result<std::uint64_t> capacity(double rate) const final {
        if constexpr (!requires { filter_.capacity(rate); })
            return held_filter::capacity(rate);
        else if (auto ok = check_rate(rate); !ok)
            return ok.error();
        else
            return filter_.capacity(rate);
    }
    result<bool> overfull(double rate) const final {
        if constexpr (!requires { filter_.overfull(rate); })
            return held_filter::overfull(rate);
        else if (auto ok = check_rate(rate); !ok)
            return ok.error();
        else
            return filter_.overfull(rate);
    }

  protected:
    F filter_;

  private:
    static result<void> check_rate(double rate) {
        if (rate > 0 && rate < 1) return {};
        return failure{error_code::invalid_argument, "the rate must lie between 0 and 1"};
    }
};

// What a form that takes keys does as well.
template <class F>
class held_writer : public held_reader<F> {
  public:
    using held_reader<F>::held_reader;

    result<bool> add(std::uint64_t hash) final { return filter_.add(hash); }
    result<std::size_t> add_batch(std::span<const std::uint64_t> hashes) final {
        return filter_.add_batch(hashes);
    }
    result<bool> test_and_add(std::uint64_t hash) final { return filter_.test_and_add(hash); }
    result<std::size_t> test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) final {
        return filter_.test_and_add(hashes, answers);
    }
    result<void> add_all(std::span<const std::uint64_t> hashes, unsigned threads) final {
        if constexpr (requires { filter_.add_all(hashes, threads); })
            filter_.add_all(hashes, threads);
        else
            run_parallel(thread_count(threads, hashes.size()), [&](unsigned part, unsigned parts) {
                const std::size_t first = hashes.size() / parts * part;
                const std::size_t last =
                    part + 1 == parts ? hashes.size() : hashes.size() / parts * (part + 1);
                filter_.add_batch(hashes.subspan(first, last - first));
            });
        return {};
    }
    result<void> clear() final {
        filter_.clear();
        return {};
    }
    result<void> remove(std::uint64_t hash) final {
        if constexpr (deletable<F>) {
            filter_.remove(hash);
            return {};
        } else {
            return held_filter::remove(hash);
        }
    }
    result<bool> try_remove(std::uint64_t hash) final {
        if constexpr (deletable<F>)
            return filter_.try_remove(hash);
        else
            return held_filter::try_remove(hash);
    }
    result<void> rotate_to(std::uint64_t epoch) final {
        if constexpr (rotating<F>)
            return filter_.rotate_to(epoch);
        else
            return held_filter::rotate_to(epoch);
    }
    result<double> merge(const held_filter& other) final {
        using view = typename F::template with_words<const_words>;
        if constexpr (!mergeable<F>)
            return held_filter::merge(other);
        else if (other.form().is_view)
            return filter_.merge(*static_cast<const view*>(other.filter()));
        else
            return filter_.merge(*static_cast<const F*>(other.filter()));
    }

  private:
    using held_reader<F>::filter_;
};

template <class F>
using held = std::conditional_t<incremental<F>, held_writer<F>, held_reader<F>>;

} // namespace bouncer::detail
