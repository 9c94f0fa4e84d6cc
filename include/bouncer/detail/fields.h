// A kind's parameters as the numbers that a file stores, and as text.
//
//   class bloom_layout : public fields<bloom_parameters, "bits", "k">
//
// lists the members of bloom_parameters in the order of their declaration, which is the order in files. The first one is the
// size of the filter, in the kind's own units (bits, words, blocks, cells).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bouncer::detail {

// References to the members of an aggregate. It compiles for the right count alone.
template <std::size_t Count, class Parameters>
constexpr auto members_of(Parameters& of) noexcept {
    static_assert(Count >= 1 && Count <= 7);
    if constexpr (Count == 1) {
        auto& [a] = of;
        return std::tie(a);
    } else if constexpr (Count == 2) {
        auto& [a, b] = of;
        return std::tie(a, b);
    } else if constexpr (Count == 3) {
        auto& [a, b, c] = of;
        return std::tie(a, b, c);
    } else if constexpr (Count == 4) {
        auto& [a, b, c, d] = of;
        return std::tie(a, b, c, d);
    } else if constexpr (Count == 5) {
        auto& [a, b, c, d, e] = of;
        return std::tie(a, b, c, d, e);
    } else if constexpr (Count == 6) {
        auto& [a, b, c, d, e, f] = of;
        return std::tie(a, b, c, d, e, f);
    } else {
        auto& [a, b, c, d, e, f, g] = of;
        return std::tie(a, b, c, d, e, f, g);
    }
}

template <class Member>
constexpr std::uint64_t as_field(const Member& member) noexcept {
    if constexpr (std::same_as<Member, double>)
        return std::bit_cast<std::uint64_t>(member);
    else
        return static_cast<std::uint64_t>(member);
}

// A number beyond the member's type becomes its largest value, which every check refuses.
template <class Member>
constexpr void set_from_field(Member& member, std::uint64_t field) noexcept {
    if constexpr (std::same_as<Member, double>) {
        member = std::bit_cast<double>(field);
    } else {
        using number = typename std::conditional_t<std::is_enum_v<Member>, std::underlying_type<Member>,
                                                   std::type_identity<Member>>::type;
        member = static_cast<Member>(std::min<std::uint64_t>(field, std::numeric_limits<number>::max()));
    }
}

// A kind with another type among its parameters has these two for it, beside the type.
inline std::string in_words(std::uint64_t number) {
    return std::to_string(number);
}
inline std::string in_code(std::uint64_t number) {
    return std::to_string(number);
}

template <std::size_t Size>
struct member_name {
    consteval member_name(const char (&from)[Size]) { std::copy_n(from, Size, text); }
    char text[Size];
};

template <class Parameters, member_name... Names>
struct fields {
    using parameters = Parameters;
    static constexpr std::size_t field_count = sizeof...(Names);
    static_assert(std::is_same_v<
                  std::tuple_element_t<0, decltype(members_of<field_count>(std::declval<Parameters&>()))>,
                  std::uint64_t&>);

    // As they are stored.
    static std::vector<std::uint64_t> fields_of(const Parameters& chosen) {
        return std::apply([](const auto&... each) { return std::vector{as_field(each)...}; },
                          members_of<field_count>(chosen));
    }
    // Precondition: field_count numbers. Not checked: the kind's check() does.
    static Parameters from_fields(const std::uint64_t* numbers) noexcept {
        Parameters out;
        std::apply([&](auto&... each) { (set_from_field(each, *numbers++), ...); },
                   members_of<field_count>(out));
        return out;
    }

    static std::uint64_t size_units(const Parameters& chosen) noexcept {
        return std::get<0>(members_of<field_count>(chosen));
    }
    static Parameters resized(Parameters chosen, std::uint64_t units) noexcept {
        std::get<0>(members_of<field_count>(chosen)) = units;
        return chosen;
    }

    // In words: "bits 640, k 7".
    static std::string describe(const Parameters& chosen) {
        return listed(chosen, "", " ", [](const auto& each) { return in_words(each); });
    }
    // What stands between the braces of Parameters{}: ".bits = 640, .k = 7".
    static std::string initializer(const Parameters& chosen) {
        return listed(chosen, ".", " = ", [](const auto& each) { return in_code(each); });
    }

  private:
    static constexpr std::array<std::string_view, field_count> names{Names.text...};

    template <class Print>
    static std::string listed(const Parameters& chosen, std::string_view before, std::string_view between,
                              Print print) {
        std::string out;
        const auto add = [&](std::string_view name, const auto& member) {
            out.append(out.empty() ? "" : ", ").append(before).append(name).append(between) += print(member);
        };
        const std::string_view* name = names.data();
        std::apply([&](const auto&... each) { (add(*name++, each), ...); }, members_of<field_count>(chosen));
        return out;
    }
};

} // namespace bouncer::detail
