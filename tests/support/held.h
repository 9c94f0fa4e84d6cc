// The adaptor behind subject.h: what is compiled for every kind and access. Thin: each function is one call, what does not
// depend on the access is there once for a kind, and what many functions end with is not inlined into them.
#pragma once

#include "support/kinds.h"
#include "support/subject.h"

#include <type_traits>

namespace bouncer::test {

template <class F>
constexpr words_access access_of = !F::words_type::writable    ? words_access::view
                                   : F::words_type::concurrent ? words_access::atomic
                                                               : words_access::plain;

template <class F>
[[gnu::noinline]] choice choice_of(const typename F::parameters& chosen) {
    const tests_own here;
    return {chosen, F::describe(chosen)};
}

template <class F>
subject held_subject(F filter);

// A filter that was made, or why not.
template <class F>
[[gnu::noinline]] result<subject> wrapped(result<F> made) {
    if (!made) return made.error();
    return held_subject(std::move(*made));
}

// Kinds of one block. One that grows takes more as it goes, and no host can move them behind it.
template <class F>
concept is_movable = incremental<F> && requires(F& f, void* block) {
    f.host_block_moved_to(block);
    f.memory().host_block();
};

// Refers to a filter that lives elsewhere: what every kind has, in every access. What a kind lacks is left to subject::model,
// which says so.
template <class F>
class reading : public subject::model {
  public:
    explicit reading(F& filter) : f(filter) {}

    words_access access() const override { return access_of<F>; }
    bool may_contain(std::uint64_t hash) const override { return f.may_contain(hash); }
    std::size_t may_contain(hash_span hashes, std::span<bool> answers) const override {
        return f.may_contain(hashes, answers);
    }
    bool may_contain_acquire(std::uint64_t hash) const override {
        if constexpr (requires { f.may_contain_acquire(hash); })
            return f.may_contain_acquire(hash);
        else
            return model::may_contain_acquire(hash);
    }
    subject view() const override {
        const tests_own here; // a chain's view allocates
        return held_subject(f.view());
    }
    subject moved() override { return held_subject(std::move(f)); }
    void assign(model&& other) override { f = std::move(dynamic_cast<reading&>(other).f); }
    double fill_ratio() const override {
        if constexpr (requires { f.fill_ratio(); })
            return f.fill_ratio();
        else
            return model::fill_ratio();
    }
    double approximate_size() const override {
        if constexpr (requires { f.approximate_size(); })
            return f.approximate_size();
        else
            return model::approximate_size();
    }
    double expected_fpr() const override { return f.expected_fpr(); }
    double fpr_at(std::uint64_t keys) const override {
        if constexpr (requires { f.fpr_at(keys); })
            return f.fpr_at(keys);
        else
            return model::fpr_at(keys);
    }
    bool overfull(double rate) const override {
        if constexpr (requires { f.overfull(rate); })
            return f.overfull(rate);
        else
            return model::overfull(rate);
    }
    std::uint64_t capacity(double rate) const override {
        if constexpr (requires { f.capacity(rate); })
            return f.capacity(rate);
        else
            return model::capacity(rate);
    }
    std::uint64_t size_bytes() const override { return f.size_bytes(); }
    hash_spec hash() const override { return f.hash(); }
    choice params() const override { return choice_of<F>(f.params()); }
    std::string describe() const override { return f.describe(); }
    detail::stored_form stored() const override { return detail::storage_access::stored(f); }

  protected:
    F& f;

    using viewed = typename F::template with_words<const_words>;
    // use(a view of the other filter), which is of the same kind in any access: for what only reads its words.
    template <class Use>
    static auto with_view(const model& other, Use use) {
        const subject view = other.view();
        return use(dynamic_cast<const reading<viewed>&>(view.held()).f);
    }

  private:
    template <class G>
    friend class reading;
    template <class G>
    friend class adding;
};

// A kind that takes keys one by one, plain or atomic.
template <class F>
class adding : public reading<F> {
  protected:
    using model = subject::model;
    using reading<F>::f;
    using reading<F>::with_view;

  public:
    using reading<F>::reading;

    bool add(std::uint64_t hash) override { return f.add(hash); }
    std::size_t add_batch(hash_span hashes) override { return f.add_batch(hashes); }
    bool test_and_add(std::uint64_t hash) override { return f.test_and_add(hash); }
    std::size_t test_and_add(hash_span hashes, std::span<bool> answers) override {
        return f.test_and_add(hashes, answers);
    }
    void clear() override { f.clear(); }
    void add_uncounted(hash_span hashes) override {
        if constexpr (requires { f.add_batch(hashes, uncounted); })
            f.add_batch(hashes, uncounted);
        else
            model::add_uncounted(hashes);
    }
    void add_release(std::uint64_t hash) override {
        if constexpr (requires { f.add_release(hash); })
            f.add_release(hash);
        else
            model::add_release(hash);
    }
    void add_all(hash_span hashes, unsigned threads) override {
        if constexpr (requires { f.add_all(hashes, threads); })
            f.add_all(hashes, threads);
        else
            model::add_all(hashes, threads);
    }
    result<double> merge(const model& other) override {
        if constexpr (mergeable<F>)
            return with(other, [&](const auto& same) { return f.merge(same); });
        else
            return model::merge(other);
    }
    result<double> merge_if_within(const model& other, double rate) override {
        if constexpr (mergeable<F>)
            return with_view(other, [&](const auto& same) { return f.merge_if_within(same, rate); });
        else
            return model::merge_if_within(other, rate);
    }
    void* host_block() const override {
        if constexpr (is_movable<F>)
            return f.memory().host_block();
        else
            return model::host_block();
    }
    void host_block_moved_to(void* block) override {
        if constexpr (is_movable<F>)
            f.host_block_moved_to(block);
        else
            model::host_block_moved_to(block);
    }
    result<void> rotate_to(std::uint64_t epoch) override {
        if constexpr (rotating<F>)
            return f.rotate_to(epoch);
        else
            return model::rotate_to(epoch);
    }

  private:
    // use(the other filter), which is of the same kind in any access.
    template <class Use>
    static auto with(const model& other, Use use) {
        using plain = typename F::template with_words<plain_words>;
        using atomic = typename F::template with_words<atomic_words>;
        switch (other.access()) {
        case words_access::plain: return use(dynamic_cast<const reading<plain>&>(other).f);
        case words_access::atomic: return use(dynamic_cast<const reading<atomic>&>(other).f);
        case words_access::view: break;
        }
        return with_view(other, use);
    }
};

// One that loses them one by one.
template <class F>
class removing : public adding<F> {
  protected:
    using adding<F>::f;

  public:
    using adding<F>::adding;
    void remove(std::uint64_t hash) override { f.remove(hash); }
    bool try_remove(std::uint64_t hash) override { return f.try_remove(hash); }
    std::uint64_t count(std::uint64_t hash) const override { return f.count(hash); }
};

// One that was built from a whole set, plain or atomic.
template <class F>
class built : public reading<F> {
  protected:
    using reading<F>::f;

  public:
    using reading<F>::reading;
    std::uint64_t keys() const override { return f.keys(); }
};

// A view. What only reads the words of a filter, or of two, is asked of views whatever the access, because it is the same
// code in all of them; access_test.cc asks each pair of accesses, of one kind for every class that defines it.
template <class F>
class viewing : public reading<F> {
  protected:
    using model = subject::model;
    using reading<F>::f;
    using reading<F>::with_view;

  public:
    using reading<F>::reading;

    bool equals(const model& other) const override {
        return with_view(other, [&](const auto& same) { return f == same; });
    }
    result<subject> clone(words_access wanted, const memory_options& memory) const override {
        if (wanted == words_access::atomic) return wrapped(f.template clone<atomic_words>(memory));
        return wrapped(f.template clone<plain_words>(memory));
    }
    result<subject> fold(std::uint64_t factor, words_access wanted,
                         const memory_options& memory) const override {
        if constexpr (!foldable<F>)
            return model::fold(factor, wanted, memory);
        else if (wanted == words_access::atomic)
            return wrapped(f.template fold<atomic_words>(factor, memory));
        else
            return wrapped(f.template fold<plain_words>(factor, memory));
    }
    std::uint64_t keys() const override {
        if constexpr (requires { f.keys(); })
            return f.keys();
        else
            return model::keys();
    }
};

// A view of a bit filter.
template <class F>
class estimating : public viewing<F> {
  protected:
    using model = subject::model;
    using viewing<F>::f;
    using viewing<F>::with_view;

  public:
    using viewing<F>::viewing;

    estimate sampled_fill_ratio(std::uint32_t samples, std::uint64_t seed) const override {
        return f.sampled_fill_ratio(samples, seed);
    }
    estimate sampled_size(std::uint32_t samples, std::uint64_t seed) const override {
        return f.sampled_size(samples, seed);
    }
    estimate sampled_fpr(std::uint32_t samples, std::uint64_t seed) const override {
        return f.sampled_fpr(samples, seed);
    }
    result<double> union_size(const model& other) const override {
        return with_view(other, [&](const auto& same) { return f.union_size(same); });
    }
    result<double> intersection_size(const model& other) const override {
        return with_view(other, [&](const auto& same) { return f.intersection_size(same); });
    }
    result<estimate> sampled_union_size(const model& other, std::uint32_t samples,
                                        std::uint64_t seed) const override {
        return with_view(other, [&](const auto& same) { return f.sampled_union_size(same, samples, seed); });
    }
    result<estimate> sampled_intersection_size(const model& other, std::uint32_t samples,
                                               std::uint64_t seed) const override {
        return with_view(other,
                         [&](const auto& same) { return f.sampled_intersection_size(same, samples, seed); });
    }
};

template <class F>
auto layer_of() {
    if constexpr (deletable<F>)
        return std::type_identity<removing<F>>{};
    else if constexpr (incremental<F>)
        return std::type_identity<adding<F>>{};
    else if constexpr (F::words_type::writable)
        return std::type_identity<built<F>>{};
    else if constexpr (is_bit_filter<F>::value)
        return std::type_identity<estimating<F>>{};
    else
        return std::type_identity<viewing<F>>{};
}
template <class F>
using referring = typename decltype(layer_of<F>())::type;

template <class F>
struct storage {
    F filter;
};
// Owns its filter.
template <class F>
class owning final : private storage<F>, public referring<F> {
  public:
    explicit owning(F filter) : storage<F>{std::move(filter)}, referring<F>(this->filter) {}
};

template <class F>
subject held_subject(F filter) {
    const tests_own here;
    return subject(std::make_unique<owning<F>>(std::move(filter)));
}

template <class F>
class shared_model final : public shared_subject::model {
  public:
    explicit shared_model(shared_filter<F> file) : file_(std::move(file)) {}
    F& filter() { return *file_; }
    const snapshot_info& info() const override { return file_.info(); }
    result<void> sync() override { return file_.sync(); }
    result<void> seal() override { return file_.seal(); }

  private:
    shared_filter<F> file_;
};

template <class F>
constexpr facts facts_of() {
    facts is{};
    is.name = F::kind_name;
    is.id = F::kind_id;
    is.access = access_of<F>;
    is.is_static = !incremental<in_access<F, plain_words>>;
    is.incremental = incremental<F>;
    is.exact = F::no_false_negatives;
    is.mergeable = mergeable<F>;
    is.foldable = foldable<F>;
    is.self_estimating = self_estimating<F>;
    is.deletable = deletable<F>;
    is.bits = is_bit_filter<F>::value;
    if constexpr (is_bit_filter<F>::value) is.one_block = F::layout_type::usual_form::block_words != 0;
    is.union_is_or = F::union_is_or;
    if constexpr (incremental<F>) {
        is.idempotent = idempotent_adds<F>;
        is.commuting = commuting_adds<F>;
    }
    is.exact_rate = has_exact_rate<F>::value;
    is.fixed_size = has_fixed_size<F>::value;
    is.keeps_goal = keeps_its_goal<F>::value;
    is.buildable = buildable<F>;
    is.built_exactly = buildable_exactly<F>;
    is.released = requires(F & f) {
        f.add_release(0);
        f.may_contain_acquire(0);
    };
    is.uncounted = requires(F & f, hash_span hashes) {
        f.add_batch(hashes, uncounted);
    };
    is.bulk = requires(F & f, hash_span hashes) {
        f.add_all(hashes, 2u);
    };
    is.loadable = detail::loadable<F>;
    is.mappable = detail::mappable<view_form<F>>;
    is.shareable = detail::shareable<F>;
    is.movable = is_movable<F>;
    is.any_hash = std::is_same_v<typename F::default_hasher, xxh3>; // others fix theirs
    if constexpr (
        is_bit_filter<F>::value && requires(typename F::parameters p) { p.k; } &&
        !requires(typename F::parameters p) { p.form; })
        is.k_most = F::layout_type::usual_form::k_max;
    is.rotating = rotating<F>;
    is.sized = requires(const F& f) {
        f.approximate_size();
    };
    is.has_capacity = requires(const F& f) {
        f.capacity(0.5);
    };
    is.can_overfill = requires(const F& f) {
        f.overfull(0.5);
    };
    if constexpr (requires { F::layout_type::control_words; })
        is.control_words = F::layout_type::control_words;
    is.layout_version = F::layout_version;
    return is;
}

template <class F>
class kind_of;

// What a kind offers whatever the access: asked of its plain form.
template <class F>
class kind_in_any_access : public kind {
  protected:
    using kind::kind;
    using parameters = typename F::parameters;
    static choice chosen(const parameters& p) { return choice_of<F>(p); }
    static const parameters& given(const choice& c) { return c.as<parameters>(); }

  public:
    std::vector<choice> variants(std::uint64_t keys, double rate) const override {
        if constexpr (incremental<F>) {
            std::vector<choice> out;
            for (const parameters& each : test::variants<F>(keys, rate)) append(out, chosen(each));
            return out;
        } else {
            return kind::variants(keys, rate);
        }
    }
    result<choice> solve(const goal& wanted) const override {
        if constexpr (requires { F::solve(wanted); }) {
            auto solved = F::solve(wanted);
            if (!solved) return solved.error();
            return chosen(*solved);
        } else {
            return kind::solve(wanted);
        }
    }
    choice no_parameters() const override { return chosen(parameters{}); }
    result<void> check(const choice& c) const override { return F::check(given(c)); }
    std::uint64_t size_bytes_of(const choice& c) const override { return F::size_bytes_of(given(c)); }
    std::uint64_t size_in(const choice& c) const override { return size_of<F>(given(c)); }
    choice with_size(const choice& c, std::uint64_t size) const override {
        return chosen(test::with_size<F>(given(c), size));
    }
    std::optional<std::uint32_t> k_in(const choice& c) const override {
        if constexpr (requires { given(c).k; })
            return given(c).k;
        else
            return std::nullopt;
    }
    std::optional<choice> with_k(const choice& c, std::uint32_t k) const override {
        parameters p = given(c);
        if constexpr (requires { p.k; }) {
            p.k = static_cast<decltype(p.k)>(k);
            return chosen(p);
        } else {
            return std::nullopt;
        }
    }
    std::optional<choice> with_form(const choice& c, unsigned form) const override {
        parameters p = given(c);
        if constexpr (requires { p.form; }) {
            p.form = static_cast<decltype(p.form)>(form);
            return chosen(p);
        } else {
            return std::nullopt;
        }
    }
    result<void> check_stored_hash(const hash_spec& spec) const override {
        return detail::storage_access::check_hash<F>(spec);
    }
    result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) const override {
        return detail::storage_access::words<F>(fields);
    }
    hash_spec default_hash() const override { return default_hash_of<F>(); }
    result<subject> map(const std::string& path, verification how) const override {
        if constexpr (detail::mappable<view_form<F>>)
            return wrapped(bouncer::map<view_form<F>>(path, how));
        else
            return kind::map(path, how);
    }
    static const kind& of(words_access wanted) {
        using atomic_form = typename F::template with_words<atomic_words>;
        static const kind_of<F> plain;
        if constexpr (std::is_same_v<atomic_form, F>) return plain;
        static const kind_of<atomic_form> atomic;
        return wanted == words_access::atomic ? static_cast<const kind&>(atomic) : plain;
    }
    const kind& in(words_access wanted) const override { return of(wanted); }
    hash_spec default_hasher() const override { return spec_of(typename F::default_hasher{}); }
    result<subject> view_over(region memory, const choice& c, const hash_spec& spec) const override {
        if constexpr (is_bit_filter<F>::value)
            return wrapped(view_form<F>::over(std::move(memory), given(c), spec));
        else
            return kind::view_over(std::move(memory), c, spec);
    }
    math::geometry shape_of(const choice& c) const override {
        if constexpr (is_bit_filter<F>::value)
            return typename F::layout_type(given(c)).shape();
        else
            return kind::shape_of(c);
    }
    std::vector<word_bits> words_of(const choice& c, std::uint64_t hash) const override {
        if constexpr (is_bit_filter<F>::value) {
            std::vector<word_bits> out;
            detail::each_word(typename F::layout_type(given(c)), hash,
                              [&](std::uint64_t word, std::uint64_t bits) {
                                  append(out, {word, bits});
                              });
            return out;
        } else {
            return kind::words_of(c, hash);
        }
    }
    std::optional<std::uint64_t> number_in(const choice& c, std::string_view name) const override {
        const parameters& p = given(c);
        if constexpr (requires { p.k; })
            if (name == "k") return p.k;
        if constexpr (requires { p.form; })
            if (name == "form") return static_cast<std::uint64_t>(p.form);
        if constexpr (requires { p.keys; })
            if (name == "keys") return p.keys;
        if constexpr (requires { p.shards; })
            if (name == "shards") return p.shards;
        if constexpr (requires { p.narrow; })
            if (name == "narrow") return p.narrow;
        return std::nullopt;
    }
};

template <class F>
class kind_of final : public kind_in_any_access<typename F::template with_words<plain_words>> {
    using base = kind_in_any_access<typename F::template with_words<plain_words>>;
    using base::given;
    static_assert(std::is_same_v<typename base::parameters, typename F::parameters>);
    static constexpr facts known = facts_of<F>();

  public:
    kind_of() : base(known) {}

    result<subject> create(const choice& c, const filter_options& options) const override {
        if constexpr (incremental<F>)
            return wrapped(F::create(given(c), options));
        else
            return kind::create(c, options);
    }
    result<subject> create(const goal& wanted, const filter_options& options) const override {
        if constexpr (incremental<F>)
            return wrapped(F::create(wanted, options));
        else
            return kind::create(wanted, options);
    }
    result<subject> over(region memory, const choice& c, const hash_spec& spec) const override {
        if constexpr (requires { F::over(std::move(memory), given(c), spec); })
            return wrapped(F::over(std::move(memory), given(c), spec));
        else
            return kind::over(std::move(memory), c, spec);
    }
    result<subject> build(hash_span hashes, const goal& wanted, const build_options& options) const override {
        if constexpr (buildable<F>)
            return wrapped(F::build(hashes, wanted, options));
        else
            return kind::build(hashes, wanted, options);
    }
    result<subject> build(const hash_source& source, const goal& wanted,
                          const build_options& options) const override {
        if constexpr (buildable<F>)
            return wrapped(F::build(source, wanted, options));
        else
            return kind::build(source, wanted, options);
    }
    result<subject> build_exactly(hash_span listed, hash_span others,
                                  const build_options& options) const override {
        if constexpr (buildable_exactly<F>)
            return wrapped(F::build(listed, others, options));
        else
            return kind::build_exactly(listed, others, options);
    }
    result<subject> load(const std::string& path, const memory_options& memory) const override {
        return wrapped(bouncer::load<F>(path, memory));
    }
    result<subject> load(const byte_source& source, const memory_options& memory) const override {
        return wrapped(bouncer::load<F>(source, memory));
    }
    result<shared_subject> open_shared(const std::string& path, verification how) const override {
        if constexpr (detail::shareable<F>) {
            auto file = bouncer::open_shared<F>(path, how);
            if (!file) return file.error();
            const tests_own here;
            auto shared = std::make_unique<shared_model<F>>(std::move(*file));
            F& inside = shared->filter();
            return shared_subject(std::move(shared), subject(std::make_unique<referring<F>>(inside)));
        } else {
            return kind::open_shared(path, how);
        }
    }
    result<subject> loaded(hash_span fields, const hash_spec& spec, hash_span words) const override {
        auto made = detail::storage_access::for_loading<F>(fields, spec, {});
        if (!made) return made.error();
        if (!words.empty()) copy_words(words, detail::storage_access::segments(*made));
        return wrapped(std::move(made));
    }
};

} // namespace bouncer::test
