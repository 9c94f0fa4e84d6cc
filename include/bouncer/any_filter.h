// any_filter: a filter whose kind is known at run time only, as read from a file or named by a user.
#pragma once

#include <bouncer/all_filters.h>
#include <bouncer/detail/held_filter.h>
#include <bouncer/snapshot.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bouncer {

namespace detail {

template <class... A, class... B>
type_list<A..., B...> joined(type_list<A...>, type_list<B...>);
// What any_filter can hold: every kind in atomic words, then every kind as a view.
using held_forms = decltype(joined(all_filters<atomic_words>{}, all_filters<const_words>{}));

// Where F stands among the forms; their count if it does not.
template <class F, class... Forms>
consteval std::size_t index_in(type_list<Forms...>) {
    std::size_t index = 0;
    (void)((std::same_as<F, Forms> || (++index, false)) || ...);
    return index;
}

template <class... Forms>
consteval std::size_t largest_of(type_list<Forms...>) {
    return std::max({sizeof(Forms)...});
}

template <class Answer, class Visit, class Form>
Answer visit_one(Visit&& visitor, std::conditional_t<std::is_const_v<Form>, const void, void>* filter) {
    return std::forward<Visit>(visitor)(*static_cast<Form*>(filter));
}

// visitor(filter), where the filter has the form at `index`.
template <class Visit, class First, class... Others>
decltype(auto) visit_form(Visit&& visitor, std::size_t index, auto* filter, type_list<First, Others...>) {
    using answer = std::invoke_result_t<Visit, First&>;
    static_assert((std::same_as<answer, std::invoke_result_t<Visit, Others&>> && ...));
    static constexpr answer (*visits[])(Visit&&, decltype(filter)) = {&visit_one<answer, Visit, First>,
                                                                      &visit_one<answer, Visit, Others>...};
    return visits[index](std::forward<Visit>(visitor), filter);
}

template <class... Forms>
type_list<const Forms...> constant(type_list<Forms...>);

} // namespace detail

// What open() does with a file.
enum class access : std::uint8_t {
    load, // into memory, and writable
    map,  // the file itself, read-only
};

// A filter of any kind, in atomic words or as a read-only view. Batches dispatch once.
//
// Thread safety: as its kind's atomic form, so adds, queries and merges are [any-thread]. What a kind or a view cannot do is
// `unsupported`, and the message says what to do instead.
class any_filter {
  public:
    // [any-thread] By the name of the kind. Errors: as the kind's create; invalid_argument names all kinds.
    static result<any_filter> create(std::string_view kind, const goal& wanted,
                                     const filter_options& options = {});

    // [any-thread] A static filter of a whole set; see built_filter::build. Without a kind the goal picks: prefer::reads a
    // binary_fuse, prefer::space a ribbon, and so do rates below 2^-31, which a binary_fuse may not keep. Errors: as the
    // kind's build; unsupported for a kind that is not built at once.
    static result<any_filter> build(std::span<const std::uint64_t> hashes, const goal& wanted,
                                    const build_options& options = {}, std::string_view kind = {});
    static result<any_filter> build(const hash_source& source, const goal& wanted,
                                    const build_options& options = {}, std::string_view kind = {});

    // [any-thread] A filter of a kind in atomic words, or a view.
    template <class F>
    requires(detail::index_in<F>(detail::held_forms{}) <
             detail::held_forms::size) explicit any_filter(F filter) noexcept {
        hold(detail::index_in<F>(detail::held_forms{}), &filter);
    }
    // [exclusive] One that was moved from can be destroyed, or given another value.
    any_filter(any_filter&& other) noexcept;
    any_filter& operator=(any_filter&& other) noexcept;
    ~any_filter();

    // [immutable]
    std::uint16_t kind() const noexcept { return held().form().kind.id; }
    std::string_view kind_name() const noexcept { return held().form().kind.name; }
    std::string parameters() const { return held().describe(); } // in words
    hash_spec hash() const noexcept { return held().hash(); }
    std::uint64_t size_bytes() const noexcept { return held().size_bytes(); }
    // Takes keys: neither a view nor static.
    bool writable() const noexcept { return !held().form().is_static && !held().form().is_view; }

    // [any-thread] See the kinds.
    bool may_contain(std::uint64_t hash) const noexcept { return held().may_contain(hash); }
    std::size_t may_contain(std::span<const std::uint64_t> hashes, std::span<bool> answers) const noexcept {
        return held().may_contain(hashes, answers);
    }
    result<bool> add(std::uint64_t hash) { return held().add(hash); }
    result<std::size_t> add_batch(std::span<const std::uint64_t> hashes) { return held().add_batch(hashes); }
    result<bool> test_and_add(std::uint64_t hash) { return held().test_and_add(hash); }
    result<std::size_t> test_and_add(std::span<const std::uint64_t> hashes, std::span<bool> answers) {
        return held().test_and_add(hashes, answers);
    }
    result<void> add_all(std::span<const std::uint64_t> hashes, unsigned threads = 0) {
        return held().add_all(hashes, threads);
    }
    result<void> remove(std::uint64_t hash) { return held().remove(hash); }
    result<bool> try_remove(std::uint64_t hash) { return held().try_remove(hash); }
    result<std::uint64_t> count(std::uint64_t hash) const {
        return detail::guarded([&] { return held().count(hash); });
    }
    result<void> rotate_to(std::uint64_t epoch) { return held().rotate_to(epoch); }
    result<double> merge(const any_filter& other);
    result<any_filter> fold(std::uint64_t factor, const memory_options& memory = {}) const {
        return held().fold(factor, memory);
    }
    // [exclusive]
    result<void> clear() { return held().clear(); }

    // [any-thread] O(m); unsupported where a kind does not know.
    result<double> fill_ratio() const { return held().fill_ratio(); }
    result<double> approximate_size() const { return held().approximate_size(); }
    result<double> expected_fpr() const { return held().expected_fpr(); }
    // [immutable] The most keys at which the expected rate still is within `rate`.
    result<std::uint64_t> capacity(double rate) const {
        return detail::guarded([&] { return held().capacity(rate); });
    }
    // [any-thread] Holds more keys than the rate allows, beyond chance; see the kinds. O(m). unsupported for kinds that
    // cannot be: static ones, and a stable_bloom, which forgets.
    result<bool> overfull(double rate) const {
        return detail::guarded([&] { return held().overfull(rate); });
    }

    // [any-thread] visit(filter) with the filter as it is.
    template <class Visit>
    decltype(auto) visit(Visit&& visitor) const {
        return detail::visit_form(std::forward<Visit>(visitor), form(), filter(),
                                  decltype(detail::constant(detail::held_forms{})){});
    }
    template <class Visit>
    decltype(auto) visit(Visit&& visitor) {
        return detail::visit_form(std::forward<Visit>(visitor), form(), filter(), detail::held_forms{});
    }

  private:
    friend struct detail::storage_access;
    detail::stored_form stored() const { return held().stored(); }

    // Moves the filter of the form at `index` into place_.
    void hold(std::size_t index, void* filter) noexcept;
    std::size_t form() const noexcept { return held().form().index; }
    const void* filter() const noexcept { return held().filter(); }
    void* filter() noexcept { return const_cast<void*>(held().filter()); }
    const detail::held_filter& held() const noexcept {
        return *std::launder(reinterpret_cast<const detail::held_filter*>(place_));
    }
    detail::held_filter& held() noexcept {
        return *std::launder(reinterpret_cast<detail::held_filter*>(place_));
    }

    // A held_filter: the filter itself, behind a pointer to what is done with its form.
    alignas(std::uint64_t) std::byte place_[sizeof(void*) + detail::largest_of(detail::held_forms{})];
};

// [any-thread] The filter in a file, whatever its kind. Errors as load and map. Eager unless told: who does not know what a
// file holds has seldom reason to trust it.
result<any_filter> open(const std::string& path, access how = access::load, const memory_options& memory = {},
                        verification checks = verification::eager);
// [any-thread] From a source that gives the bytes of a file, into memory.
result<any_filter> open(const byte_source& source, const memory_options& memory = {});

} // namespace bouncer
