// Lists of types: the kinds (all_filters.h), the hashers (all_hashers.h).
#pragma once

#include <cstddef>
#include <type_traits>

namespace bouncer {

template <class... Types>
struct type_list {
    static constexpr std::size_t size = sizeof...(Types);
    template <class Type>
    static constexpr bool has = (std::is_same_v<Type, Types> || ...);
    // List::apply<Template>: Template<Types...>.
    template <template <class...> class Template>
    using apply = Template<Types...>;
    // [any-thread] visit.template operator()<Type>() for every type.
    template <class Visit>
    static constexpr void for_each(Visit visit) {
        (visit.template operator()<Types>(), ...);
    }
};

namespace detail {

template <class Type, class List>
concept listed_in = List::template has<Type>;

// Whether no two have the same id or name.
consteval bool distinct(const auto& infos) {
    for (std::size_t i = 0; i < infos.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (infos[i].id == infos[j].id || infos[i].name == infos[j].name) return false;
    return true;
}

} // namespace detail

} // namespace bouncer
