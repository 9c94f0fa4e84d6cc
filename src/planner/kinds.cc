#include "planner/kinds.h"

#include "planner/kind_model.h"
#include "planner/with_k.h"

#include <array>

namespace bouncer::planner {

namespace {

template <class... Kinds>
constexpr auto entries_of(type_list<Kinds...>) {
    return std::array{
        kind_entry{Kinds::kind_name, abilities_of<Kinds>(), &solved<Kinds>, &solved_with_k<Kinds>}...};
}

constexpr auto entries = entries_of(all_filters<atomic_words>{});

} // namespace

std::span<const kind_entry> kind_entries() {
    return entries;
}

const kind_entry* find_kind(std::string_view name) {
    for (const kind_entry& each : entries)
        if (each.name == name) return &each;
    return nullptr;
}

std::vector<kind_abilities> all_abilities() {
    std::vector<kind_abilities> out;
    for (const kind_entry& each : entries) out.push_back({each.name, each.can});
    return out;
}

result<candidate> design(std::string_view kind, const goal& wanted) {
    return detail::guarded([&]() -> result<candidate> {
        const kind_entry* const entry = find_kind(kind);
        if (entry == nullptr) {
            std::string names;
            for (const kind_entry& each : entries)
                names += (names.empty() ? "" : ", ") + std::string(each.name);
            return failure{error_code::invalid_argument,
                           "there is no kind " + std::string(kind) + "; there are " + names};
        }
        return entry->solve(wanted, 0);
    });
}

} // namespace bouncer::planner
