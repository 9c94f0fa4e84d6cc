#include "format/kinds.h"

#include <bouncer/all_filters.h>
#include <bouncer/window_schedule.h>

#include <string>
#include <vector>

namespace bouncer::detail {

namespace {

template <class F>
kind_entry entry_of() {
    kind_entry out{.id = F::kind_id,
                   .layout_version = F::layout_version,
                   .name = F::kind_name,
                   .words = storage_access::words<F>,
                   .check_hash = storage_access::check_hash<F>,
                   .union_is_or = F::union_is_or,
                   .is_static = !incremental<F>,
                   .window_steps = nullptr,
                   .folded = nullptr,
                   .shape = nullptr};
    if constexpr (foldable<F>) {
        using layout = typename F::layout_type;
        out.folded = [](std::span<const std::uint64_t> fields,
                        std::uint64_t factor) -> result<std::vector<std::uint64_t>> {
            auto chosen = layout(layout::from_fields(fields.data())).folded(factor);
            if (!chosen) return chosen.error();
            return layout::fields_of(*chosen);
        };
        out.shape = [](std::span<const std::uint64_t> fields) {
            return layout(layout::from_fields(fields.data())).shape();
        };
    }
    if constexpr (rotating<F>)
        out.window_steps = [](std::span<const std::uint64_t> fields) {
            return F::layout_type::from_fields(fields.data()).live - 1;
        };
    return out;
}

const std::vector<kind_entry>& entries() {
    static const std::vector<kind_entry> all = [] {
        std::vector<kind_entry> out;
        for_each_kind<plain_words>([&]<class F>() { out.push_back(entry_of<F>()); });
        return out;
    }();
    return all;
}

} // namespace

const kind_entry* find_kind(std::uint16_t id) {
    for (const kind_entry& each : entries())
        if (each.id == id) return &each;
    return nullptr;
}

failure unknown_kind(const snapshot_info& info) {
    std::string known;
    for (const kind_entry& each : entries())
        known += (known.empty() ? "" : ", ") + std::to_string(each.id) + " " + std::string(each.name);
    return {error_code::unknown_version,
            "kind " + std::to_string(info.kind) + "; this library knows " + known};
}

result<void> check_window(const snapshot_info& info) {
    if (info.window.count() == 0) return {};
    const kind_entry* const kind = find_kind(info.kind);
    if (kind == nullptr || kind->window_steps == nullptr)
        return failure{error_code::invalid_argument,
                       "a window, and only a windowed_bloom has one; this is a " +
                           (kind == nullptr ? "kind " + std::to_string(info.kind) : std::string(kind->name))};
    if (auto steps = window_schedule::make(info.window, kind->window_steps(info.fields)); !steps)
        return steps.error();
    return {};
}

} // namespace bouncer::detail
