// What any_filter holds: a filter of one kind and form behind one interface. held_filter refuses, once, what a form may
// lack; a form overrides what it can do (src/format/held_forms.h).
#pragma once

#include <bouncer/all_filters.h>
#include <bouncer/detail/stored.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bouncer {

class any_filter;

namespace detail {

struct form_info {
    std::size_t index; // in held_forms
    kind_info kind;
    bool is_static; // built once, never changed: a view of one is no worse than one in memory
    bool is_view;
};

// [any-thread] unsupported, and why.
failure cannot(const form_info& form, std::string_view what, std::string_view instead = "");

class held_filter {
  public:
    virtual ~held_filter() = default;
    virtual const form_info& form() const noexcept = 0;
    virtual const void* filter() const noexcept = 0;

    virtual std::string describe() const = 0;
    virtual hash_spec hash() const noexcept = 0;
    virtual std::uint64_t size_bytes() const noexcept = 0;
    virtual stored_form stored() const = 0;
    virtual bool may_contain(std::uint64_t) const noexcept = 0;
    virtual std::size_t may_contain(std::span<const std::uint64_t>, std::span<bool>) const noexcept = 0;

    // The rest is refused, unless the form does it.
    virtual result<bool> add(std::uint64_t) { return cannot_add(); }
    virtual result<std::size_t> add_batch(std::span<const std::uint64_t>) { return cannot_add(); }
    virtual result<bool> test_and_add(std::uint64_t) { return cannot_add(); }
    virtual result<std::size_t> test_and_add(std::span<const std::uint64_t>, std::span<bool>) {
        return cannot_add();
    }
    virtual result<void> add_all(std::span<const std::uint64_t>, unsigned) { return cannot_add(); }
    virtual result<void> clear() { return cannot("clear", form().is_static ? ": build a new one" : ""); }
    virtual result<void> remove(std::uint64_t) { return cannot("remove", ": a counting_bloom can"); }
    virtual result<bool> try_remove(std::uint64_t) { return cannot("remove", ": a counting_bloom can"); }
    virtual result<std::uint64_t> count(std::uint64_t) const {
        return failure{error_code::unsupported,
                       "a " + std::string(form().kind.name) + " does not count: a counting_bloom does"};
    }
    virtual result<void> rotate_to(std::uint64_t) { return cannot("rotate", ": a windowed_bloom can"); }
    // The other is of the same kind.
    virtual result<double> merge(const held_filter&) { return cannot("merge", ": its kind has no union"); }
    virtual result<any_filter> fold(std::uint64_t, const memory_options&) const;
    virtual result<double> fill_ratio() const { return cannot("tell its fill"); }
    virtual result<double> approximate_size() const { return cannot("estimate its keys"); }
    virtual result<double> expected_fpr() const { return cannot("tell its rate"); }
    virtual result<std::uint64_t> capacity(double) const { return cannot("tell its capacity"); }
    virtual result<bool> overfull(double) const {
        return failure{error_code::unsupported,
                       "a " + std::string(form().kind.name) + " keeps its rate however many keys come"};
    }

  private:
    failure cannot(std::string_view what, std::string_view instead = "") const {
        return detail::cannot(form(), what, instead);
    }
    failure cannot_add() const {
        return cannot("add", form().is_static ? ": it is built once from all its keys; build a new one, or "
                                                "use a kind that adds, such as blocked_bloom"
                                              : "");
    }
};

} // namespace detail

} // namespace bouncer
