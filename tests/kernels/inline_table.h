// probe<Form> as the including program is compiled, as a table: rows of what is there for single keys, and nothing else.
#pragma once

#include <bouncer/detail/probe.h>

#include <cstdint>

namespace bouncer::test {

template <class Form>
bool inline_covers(const std::uint64_t* words, detail::extent at, std::uint64_t hash) noexcept {
    return detail::yes(detail::probe<Form>::ask(words, at, hash));
}
template <class Form, class Words>
bool inline_set(std::uint64_t* words, detail::extent at, std::uint64_t hash) noexcept {
    return detail::yes(detail::probe<Form>::template set<Words>(words, at, hash));
}
template <class... Form>
constexpr detail::bit_ops_table inline_rows(detail::form_list<Form...>) noexcept {
    return {{detail::bit_ops{inline_covers<Form>, inline_set<Form, plain_words>,
                             inline_set<Form, atomic_words>, nullptr, nullptr, nullptr, nullptr}...}};
}
inline constexpr detail::bit_ops_table inline_table = inline_rows(detail::all_forms{});

} // namespace bouncer::test
