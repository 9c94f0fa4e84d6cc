// What a property of the battery is written over: a filter of some kind in some access, and how to make one.
//
// A test body sees `subject` and `kind`, never a filter's type. So it is compiled once, however many kinds there are. The
// only code that is compiled for every kind and access is the thin adaptor in held.h: one small file per kind, which
// CMake writes from the list in all_filters.h. HACKING.md says how to write a property.
#pragma once

#include <bouncer/bit_filter.h> // filter_options
#include <bouncer/build.h>
#include <bouncer/concepts.h>
#include <bouncer/estimate.h>
#include <bouncer/goal.h>
#include <bouncer/hash.h>
#include <bouncer/math.h>
#include <bouncer/region.h>
#include <bouncer/result.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bouncer::test {

// While one exists, what this thread allocates is a test's own, not the library's: see tests/no_memory.
struct tests_own {
    tests_own() noexcept { ++depth; }
    tests_own(const tests_own&) = delete;
    tests_own& operator=(const tests_own&) = delete;
    ~tests_own() { --depth; }
    static inline constinit thread_local int depth = 0;
};

enum class words_access : std::uint8_t { plain, atomic, view };
using hash_span = std::span<const std::uint64_t>;

// What holds for a kind in one access. Suites choose their kinds by these, and bodies ask them instead of `requires`.
struct facts {
    std::string_view name;
    std::uint16_t id;
    words_access access;
    bool is_static;       // built once and never changed: it has no access, and counts as plain and as atomic
    bool incremental;     // takes keys one by one
    bool exact;           // never a false negative
    bool mergeable;       // has a union
    bool foldable;        // shrinks without its keys
    bool self_estimating; // knows its fill, keys and rate
    bool deletable;       // loses keys one by one
    bool bits;            // a bit_filter: bits that only go from 0 to 1
    bool one_block;       // and a key's bits lie in one block
    bool union_is_or;     // the union is the OR of the words
    bool idempotent;      // adding a key again changes nothing
    bool commuting;       // the order of adds does not show
    bool exact_rate;      // fpr_at(n) is the mean rate, not a bound
    bool fixed_size;      // goal.size_bytes is the size
    bool keeps_goal;      // keeps a goal's rate by the smallest filter that does
    bool buildable;       // built once from a whole set
    bool built_exactly;   // built from both sides of a closed universe
    bool released;        // has add_release and may_contain_acquire
    bool uncounted;       // has add_batch(hashes, uncounted)
    bool bulk;            // has add_all
    bool loadable, mappable, shareable;
    bool movable;              // a host may move its one block
    bool any_hash;             // takes the hashes of any hasher
    std::uint32_t k_most;      // where the kind has one limit for all of its forms; else 0
    bool rotating;             // forgets by steps that the caller numbers
    bool sized;                // has approximate_size
    bool has_capacity;         // has capacity
    bool can_overfill;         // has overfull
    std::size_t control_words; // words before its cells, which a reader looks at
    std::uint16_t layout_version;
};

// What a hash sets in one word of a filter.
struct word_bits {
    std::uint64_t word;
    std::uint64_t bits;
};

// Parameters of some kind. Two are equal when the kind says so.
class choice {
  public:
    template <class Parameters>
    choice(const Parameters& chosen, std::string text)
        : held_(std::make_shared<Parameters>(chosen)), equal_([](const void* a, const void* b) {
              return *static_cast<const Parameters*>(a) == *static_cast<const Parameters*>(b);
          }),
          text_(std::move(text)) {}

    const std::string& text() const { return text_; } // as the kind describes them
    friend bool operator==(const choice& a, const choice& b) {
        return a.equal_ == b.equal_ && a.equal_(a.held_.get(), b.held_.get());
    }
    // For the adaptor, which knows the type.
    template <class Parameters>
    const Parameters& as() const {
        return *static_cast<const Parameters*>(held_.get());
    }

  private:
    std::shared_ptr<const void> held_;
    bool (*equal_)(const void*, const void*);
    std::string text_;
};

// A filter. Its methods are those of the kinds, under the same names; a call that its kind lacks throws.
class subject {
  public:
    // What the adaptor implements, once for every kind and access. What it does not implement throws: the kind lacks it in
    // that access, or it is asked of view() only.
    class model {
      public:
        virtual ~model(); // in subject.cc, where the compiler then puts the functions below as well
        virtual words_access access() const = 0;
        virtual bool may_contain(std::uint64_t hash) const = 0;
        virtual std::size_t may_contain(hash_span hashes, std::span<bool> answers) const = 0;
        virtual bool may_contain_acquire(std::uint64_t) const { lacks("may_contain_acquire"); }
        virtual bool add(std::uint64_t) { lacks("add"); }
        virtual std::size_t add_batch(hash_span) { lacks("add_batch"); }
        virtual void add_uncounted(hash_span) { lacks("add_uncounted"); }
        virtual void add_release(std::uint64_t) { lacks("add_release"); }
        virtual void add_all(hash_span, unsigned) { lacks("add_all"); }
        virtual bool test_and_add(std::uint64_t) { lacks("test_and_add"); }
        virtual std::size_t test_and_add(hash_span, std::span<bool>) { lacks("test_and_add"); }
        virtual void remove(std::uint64_t) { lacks("remove"); }
        virtual void clear() { lacks("clear"); }
        virtual result<double> merge(const model&) { lacks("merge"); }
        virtual result<double> merge_if_within(const model&, double) { lacks("merge_if_within"); }
        virtual subject view() const = 0;
        virtual subject moved() = 0;
        virtual void assign(model&& other) = 0;
        virtual double fill_ratio() const { lacks("fill_ratio"); }
        virtual double approximate_size() const { lacks("approximate_size"); }
        virtual double expected_fpr() const = 0;
        virtual double fpr_at(std::uint64_t) const { lacks("fpr_at"); }
        virtual std::uint64_t capacity(double) const { lacks("capacity"); }
        virtual bool overfull(double) const { lacks("overfull"); }
        virtual std::uint64_t keys() const { lacks("keys"); }
        virtual std::uint64_t size_bytes() const = 0;
        virtual hash_spec hash() const = 0;
        virtual choice params() const = 0;
        virtual std::string describe() const = 0;
        virtual bouncer::detail::stored_form stored() const = 0;
        // Of views.
        virtual bool equals(const model&) const { lacks("=="); }
        virtual result<subject> clone(words_access, const memory_options&) const { lacks("clone"); }
        virtual result<subject> fold(std::uint64_t, words_access, const memory_options&) const {
            lacks("fold");
        }
        // Of views of bit filters.
        virtual estimate sampled_fill_ratio(std::uint32_t, std::uint64_t) const {
            lacks("sampled_fill_ratio");
        }
        virtual estimate sampled_size(std::uint32_t, std::uint64_t) const { lacks("sampled_size"); }
        virtual estimate sampled_fpr(std::uint32_t, std::uint64_t) const { lacks("sampled_fpr"); }
        virtual result<double> union_size(const model&) const { lacks("union_size"); }
        virtual result<double> intersection_size(const model&) const { lacks("intersection_size"); }
        virtual result<estimate> sampled_union_size(const model&, std::uint32_t, std::uint64_t) const {
            lacks("sampled_union_size");
        }
        virtual result<estimate> sampled_intersection_size(const model&, std::uint32_t, std::uint64_t) const {
            lacks("sampled_intersection_size");
        }
        virtual void* host_block() const { lacks("host_block"); }
        virtual void host_block_moved_to(void*) { lacks("host_block_moved_to"); }
        virtual bool try_remove(std::uint64_t) { lacks("try_remove"); }
        virtual std::uint64_t count(std::uint64_t) const { lacks("count"); }
        virtual result<void> rotate_to(std::uint64_t) { lacks("rotate_to"); }

      private:
        [[noreturn]] void lacks(const char* what) const;
    };

    explicit subject(std::unique_ptr<model> held) : held_(std::move(held)) {}
    const model& held() const { return *held_; } // for the adaptor

    words_access access() const { return held_->access(); }
    bool may_contain(std::uint64_t hash) const { return held_->may_contain(hash); }
    std::size_t may_contain(hash_span hashes, std::span<bool> answers) const {
        return held_->may_contain(hashes, answers);
    }
    bool may_contain_acquire(std::uint64_t hash) const { return held_->may_contain_acquire(hash); }
    bool add(std::uint64_t hash) { return held_->add(hash); }
    std::size_t add_batch(hash_span hashes) { return held_->add_batch(hashes); }
    void add_uncounted(hash_span hashes) { held_->add_uncounted(hashes); }
    void add_release(std::uint64_t hash) { held_->add_release(hash); }
    void add_all(hash_span hashes, unsigned threads) { held_->add_all(hashes, threads); }
    bool test_and_add(std::uint64_t hash) { return held_->test_and_add(hash); }
    std::size_t test_and_add(hash_span hashes, std::span<bool> answers) {
        return held_->test_and_add(hashes, answers);
    }
    void remove(std::uint64_t hash) { held_->remove(hash); }
    void clear() { held_->clear(); }
    // Of the same kind, in any access.
    bool operator==(const subject& other) const { return view().held_->equals(*other.held_); }
    result<double> merge(const subject& other) { return held_->merge(*other.held_); }
    result<double> merge_if_within(const subject& other, double rate) {
        return held_->merge_if_within(*other.held_, rate);
    }
    // Without an access, in its own; a view's copy is plain.
    subject clone() const { return view().held_->clone(owned_access(), {}).value(); }
    subject clone(words_access wanted) const { return view().held_->clone(wanted, {}).value(); }
    result<subject> clone(const memory_options& memory) const {
        return view().held_->clone(owned_access(), memory);
    }
    subject view() const { return held_->view(); }
    result<subject> fold(std::uint64_t factor, const memory_options& memory = {}) const {
        return view().held_->fold(factor, owned_access(), memory);
    }
    // The filter itself is moved, by construction and by assignment; a subject that is moved only hands it on.
    subject moved() { return held_->moved(); }
    void assign(subject&& other) { held_->assign(std::move(*other.held_)); }
    double fill_ratio() const { return held_->fill_ratio(); }
    double approximate_size() const { return held_->approximate_size(); }
    double expected_fpr() const { return held_->expected_fpr(); }
    double fpr_at(std::uint64_t keys) const { return held_->fpr_at(keys); }
    bool overfull(double rate) const { return held_->overfull(rate); }
    std::uint64_t capacity(double rate) const { return held_->capacity(rate); }
    std::uint64_t keys() const { return held_->keys(); } // of a static kind
    std::uint64_t size_bytes() const { return held_->size_bytes(); }
    hash_spec hash() const { return held_->hash(); }
    choice params() const { return held_->params(); }
    std::string describe() const { return held_->describe(); }
    // For save(), which takes a subject as it takes a filter.
    bouncer::detail::stored_form stored() const { return held_->stored(); }
    estimate sampled_fill_ratio(std::uint32_t samples = 4096, std::uint64_t seed = 1) const {
        return view().held_->sampled_fill_ratio(samples, seed);
    }
    estimate sampled_size(std::uint32_t samples = 4096, std::uint64_t seed = 1) const {
        return view().held_->sampled_size(samples, seed);
    }
    estimate sampled_fpr(std::uint32_t samples = 4096, std::uint64_t seed = 1) const {
        return view().held_->sampled_fpr(samples, seed);
    }
    result<double> union_size(const subject& other) const { return view().held_->union_size(*other.held_); }
    result<double> intersection_size(const subject& other) const {
        return view().held_->intersection_size(*other.held_);
    }
    result<estimate> sampled_union_size(const subject& other, std::uint32_t samples = 4096,
                                        std::uint64_t seed = 1) const {
        return view().held_->sampled_union_size(*other.held_, samples, seed);
    }
    result<estimate> sampled_intersection_size(const subject& other, std::uint32_t samples = 4096,
                                               std::uint64_t seed = 1) const {
        return view().held_->sampled_intersection_size(*other.held_, samples, seed);
    }
    void* host_block() const { return held_->host_block(); }
    void host_block_moved_to(void* block) { held_->host_block_moved_to(block); }
    bool try_remove(std::uint64_t hash) { return held_->try_remove(hash); }
    std::uint64_t count(std::uint64_t hash) const { return held_->count(hash); }
    result<void> rotate_to(std::uint64_t epoch) { return held_->rotate_to(epoch); }

  private:
    words_access owned_access() const {
        return access() == words_access::view ? words_access::plain : access();
    }
    std::unique_ptr<model> held_;
};

// open_shared of a kind: the filter in the file, and the file.
class shared_subject {
  public:
    class model {
      public:
        virtual ~model() = default;
        virtual const snapshot_info& info() const = 0;
        virtual result<void> sync() = 0;
        virtual result<void> seal() = 0;
    };
    shared_subject(std::unique_ptr<model> file, subject filter)
        : file_(std::move(file)), filter_(std::move(filter)) {}

    subject& operator*() { return filter_; }
    subject* operator->() { return &filter_; }
    const snapshot_info& info() const { return file_->info(); }
    result<void> sync() { return file_->sync(); }
    result<void> seal() { return file_->seal(); }

  private:
    std::unique_ptr<model> file_;
    subject filter_; // refers to what file_ holds
};

// A kind in one access: what its class offers as static functions.
class kind {
  public:
    const facts is;

    virtual ~kind();
    // Every way in which the kind can serve a goal; see variants() in kinds.h.
    virtual std::vector<choice> variants(std::uint64_t, double) const { lacks("variants"); }
    virtual result<choice> solve(const goal&) const { lacks("solve"); }
    virtual choice no_parameters() const = 0; // parameters{}
    virtual result<void> check(const choice& chosen) const = 0;
    virtual std::uint64_t size_bytes_of(const choice& chosen) const = 0;
    // In bits, words, blocks or cells.
    virtual std::uint64_t size_in(const choice& chosen) const = 0;
    virtual choice with_size(const choice& chosen, std::uint64_t size) const = 0;
    // None where the kind has no such parameter.
    virtual std::optional<std::uint32_t> k_in(const choice& chosen) const = 0;
    virtual std::optional<choice> with_k(const choice& chosen, std::uint32_t k) const = 0;
    virtual std::optional<choice> with_form(const choice& chosen, unsigned form) const = 0;

    virtual result<subject> create(const choice&, const filter_options& = {}) const { lacks("create"); }
    virtual result<subject> create(const goal&, const filter_options& = {}) const { lacks("create"); }
    virtual result<subject> over(region, const choice&, const hash_spec&) const { lacks("over"); }
    virtual result<subject> build(hash_span, const goal&, const build_options& = {}) const { lacks("build"); }
    virtual result<subject> build(const hash_source&, const goal&, const build_options& = {}) const {
        lacks("build");
    }
    virtual result<subject> build_exactly(hash_span, hash_span, const build_options& = {}) const {
        lacks("build_exactly");
    }

    virtual result<void> check_stored_hash(const hash_spec& spec) const = 0;
    virtual result<std::uint64_t> stored_words(std::span<const std::uint64_t> fields) const = 0;
    virtual hash_spec default_hash() const = 0; // prehashed, or the one hash that the kind fixes

    virtual result<subject> load(const std::string& path, const memory_options& memory = {}) const = 0;
    virtual result<subject> load(const byte_source& source, const memory_options& memory = {}) const = 0;
    // A view of the kind, whatever this access.
    virtual result<subject> map(const std::string&, verification = verification::lazy) const { lacks("map"); }
    virtual result<shared_subject> open_shared(const std::string&, verification = verification::eager) const {
        lacks("open_shared");
    }

    virtual const kind& in(words_access wanted) const = 0; // the same kind, plain or atomic
    virtual hash_spec default_hasher() const = 0;          // what keyed hashes with, unless told
    virtual result<subject> view_over(region, const choice&, const hash_spec&) const { lacks("view_over"); }
    // Of bit filters, from the layout alone: no filter is made.
    virtual math::geometry shape_of(const choice&) const { lacks("shape_of"); }
    virtual std::vector<word_bits> words_of(const choice&, std::uint64_t) const { lacks("words_of"); }
    // A parameter by its name: k, form, keys, shards or narrow. None where the kind has no such parameter.
    virtual std::optional<std::uint64_t> number_in(const choice& chosen, std::string_view name) const = 0;
    // What a load makes of a file's fields and words. Without words: an empty filter of those fields.
    virtual result<subject> loaded(hash_span fields, const hash_spec& spec, hash_span words) const = 0;
    const kind& other() const {
        return in(is.access == words_access::atomic ? words_access::plain : words_access::atomic);
    }
    // A text for SCOPED_TRACE.
    std::string describe(const choice& chosen) const { return std::string(is.name) + ": " + chosen.text(); }

  protected:
    explicit kind(const facts& what) : is(what) {}

  private:
    [[noreturn]] void lacks(const char* what) const;
};

// For the adaptor, which is to be small.
void append(std::vector<choice>& out, choice chosen);
void append(std::vector<word_bits>& out, word_bits bits);
void copy_words(hash_span words, const std::vector<std::span<std::uint64_t>>& segments);

// Every kind, plain and atomic (static ones once), in the order of all_filters.h.
const std::vector<const kind*>& all_subjects();

// For a test of one kind.
inline const kind& kind_named(std::string_view name, words_access access) {
    for (const kind* each : all_subjects())
        if (each->is.name == name && (each->is.is_static || each->is.access == access)) return *each;
    throw std::logic_error("no kind is named " + std::string(name));
}

// ---- suites over kinds -----------------------------------------------------------------------------------------------

// A suite: class batches : public kind_test {}; TEST_P(batches, of_adds) { ... k.create(...) ... }
class kind_test : public ::testing::TestWithParam<const kind*> {
  protected:
    const kind& k = *GetParam();
};

// The kinds of which `holds` is true: a bool of facts, or a function of them.
template <class Holds>
std::vector<const kind*> filtered(Holds holds, std::optional<words_access> access) {
    std::vector<const kind*> out;
    for (const kind* each : all_subjects())
        if ((!access || each->is.is_static || each->is.access == *access) && std::invoke(holds, each->is))
            out.push_back(each);
    return out;
}

// INSTANTIATE_TEST_SUITE_P(all, batches, subjects_that(&facts::incremental), subject_names);
template <class Holds>
auto subjects_that(Holds holds) {
    return ::testing::ValuesIn(filtered(holds, std::nullopt));
}
// Every kind once, plain: for what does not pass through the access.
template <class Holds>
auto plain_subjects_that(Holds holds) {
    return ::testing::ValuesIn(filtered(holds, words_access::plain));
}
// Every kind once, atomic: for threads and for files.
template <class Holds>
auto atomic_subjects_that(Holds holds) {
    return ::testing::ValuesIn(filtered(holds, words_access::atomic));
}

inline std::string subject_names(const ::testing::TestParamInfo<const kind*>& info) {
    const facts& is = info.param->is;
    if (is.is_static) return std::string(is.name);
    return (is.access == words_access::atomic ? "atomic_" : "plain_") + std::string(is.name);
}

} // namespace bouncer::test
