// What the planner asks of a kind, read from its concepts, traits, layout and parameters: no list of kinds here.
#pragma once

#include <bouncer/all_filters.h>
#include <bouncer/planner.h>

#include "planner/kinds.h"
#include "planner/lines.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bouncer::planner {

template <class F>
concept growing = requires(const typename F::parameters& chosen, std::uint64_t keys) {
    F::plan(chosen, keys);
};
// Its rate depends on its shape and keys alone.
template <class Layout>
concept has_shape = requires(const Layout& layout) {
    { layout.shape() } -> std::same_as<math::geometry>;
};
template <class Layout>
concept has_cells = requires(const Layout& layout) {
    { layout.where().shape() } -> std::same_as<math::geometry>;
};
template <class Parameters>
concept has_decrements = requires(const Parameters& chosen) {
    chosen.decrements;
};

// Takes no hash but its own: kinds that take any have the default of keyed<>.
template <class F>
constexpr bool fixes_hash() {
    return !std::same_as<typename F::default_hasher, xxh3>;
}

template <class F>
constexpr abilities abilities_of() {
    return {
        .add = incremental<F>,
        .remove = deletable<F>,
        .grow = growing<F>,
        .merge = mergeable<F>,
        .fold = foldable<F>,
        .forget = !F::no_false_negatives,
        .concurrent = F::concurrency != concurrency_level::exclusive,
        .fixed = buildable<F> || buildable_exactly<F>,
        .exact = buildable_exactly<F>,
        .foreign = fixes_hash<F>(),
    };
}

template <class Layout>
math::geometry shape_of(const Layout& layout) {
    if constexpr (has_shape<Layout>)
        return layout.shape();
    else
        return layout.where().shape();
}

// The rate of a window whose generations are all as full as `keys` keys in a window make them.
template <class Layout>
double window_rate(const Layout& layout, std::uint64_t keys) {
    const std::uint32_t live = layout.params().live;
    const std::uint64_t of_one = (keys + live - 2) / (live - 1);
    const double one = math::fpr(shape_of(layout), static_cast<double>(of_one));
    return -std::expm1(live * std::log1p(-one));
}

template <class F>
class chain_model {
  public:
    chain_model(const typename F::parameters& chosen, std::uint64_t keys) : chosen_(chosen) { extend(keys); }

    bool reaches(std::uint64_t keys) const noexcept { return room_ >= keys; }
    const auto& layers() const noexcept { return layers_; }
    // Of the layers in use, and of the one that is prepared ahead when the newest is nearly full.
    std::uint64_t size_bytes(std::uint64_t keys) const {
        std::uint64_t out = 0;
        std::uint64_t before = 0; // keys in older layers
        for (const auto& each : layers_) out += each.size_bytes;
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i) before += layers_[i].capacity;
        const auto attempt =
            detail::scalable_layer<typename F::filter_type>::first_attempt(layers_.back().capacity);
        if (keys - before < attempt) return out;
        const auto further = unless_no_memory(F::plan(chosen_, room_ + 1));
        return further ? out + further->back().size_bytes : out;
    }
    double rate(std::uint64_t keys) {
        if (!reaches(keys)) extend(keys);
        double silent = 0; // log of the chance that no layer answers
        std::uint64_t left = keys;
        for (std::size_t i = 0; i < layers_.size() && left != 0; ++i) {
            const bool last = i + 1 == layers_.size(); // takes the rest, as where growth is refused
            const std::uint64_t here = last ? left : std::min(left, layers_[i].capacity);
            const auto shape = typename F::filter_type::layout_type(layers_[i].filter).shape();
            silent += std::log1p(-math::fpr(shape, static_cast<double>(here)));
            left -= here;
        }
        return -std::expm1(silent);
    }

  private:
    void extend(std::uint64_t keys) {
        auto planned = unless_no_memory(F::plan(chosen_, keys));
        if (!planned) return;
        layers_ = std::move(*planned);
        room_ = 0;
        for (const auto& each : layers_) room_ += each.capacity;
    }

    typename F::parameters chosen_;
    std::vector<typename F::planned_layer> layers_;
    std::uint64_t room_ = 0;
};

template <class F>
result<candidate> described_chain(const typename F::parameters& chosen, std::uint64_t keys) {
    const auto chain = std::make_shared<chain_model<F>>(chosen, keys);
    if (!chain->reaches(keys))
        return failure{error_code::too_large,
                       "no chain of layers grows to " + std::to_string(keys) + " keys"};
    candidate out;
    out.layers = static_cast<std::uint32_t>(chain->layers().size());
    for (const auto& each : chain->layers()) {
        const typename F::filter_type::layout_type layout(each.filter);
        const lines_read here = lines_of(layout, each.capacity);
        out.lines_absent += here.absent;
        out.lines_present +=
            here.present / 2 + here.absent / 2; // half of the layers, more or less, are asked in vain
        out.lines_adjacent = false;
        out.words_written = here.written;
    }
    out.size_bytes = chain->size_bytes(keys);
    out.rate = chain->rate(keys);
    out.rate_at = [chain](std::uint64_t there) { return chain->rate(there); };
    return out;
}

// Everything that parameters say of a kind. `keys`: designed for.
template <class F>
result<candidate> described(const typename F::parameters& chosen, std::uint64_t keys) {
    candidate out;
    if constexpr (growing<F>) {
        auto chain = described_chain<F>(chosen, keys);
        if (!chain) return chain;
        out = std::move(*chain);
    } else {
        using layout_type = typename F::layout_type;
        const layout_type layout(chosen);
        out.size_bytes = F::size_bytes_of(chosen);
        if constexpr (buildable<F>) {
            const double rate = layout.rate() + math::hash_collision_rate(static_cast<double>(keys));
            out.rate = std::min(1.0, rate);
        } else if constexpr (has_decrements<typename F::parameters>) {
            const auto max = (1u << chosen.cell_bits) - 1;
            out.rate = math::stable_fpr(chosen.cells, chosen.k, max, chosen.decrements);
            out.rate_at = [chosen, max](std::uint64_t there) {
                return math::stable_fpr_after(static_cast<double>(there), chosen.cells, chosen.k, max,
                                              chosen.decrements);
            };
        } else if constexpr (rotating<F>) {
            out.rate = window_rate(layout, keys);
            out.rate_at = [layout](std::uint64_t there) { return window_rate(layout, there); };
        } else if constexpr (has_shape<layout_type> || has_cells<layout_type>) {
            const math::geometry shape = shape_of(layout);
            out.rate = math::fpr(shape, static_cast<double>(keys));
            out.rate_at = [shape](std::uint64_t there) {
                return math::fpr(shape, static_cast<double>(there));
            };
        } else {
            return failure{error_code::unsupported,
                           "the planner cannot tell the rate of " + std::string(F::kind_name)};
        }
        const lines_read read = lines_of(layout, keys);
        out.lines_absent = read.absent;
        out.lines_present = read.present;
        out.lines_adjacent = read.adjacent;
        out.words_written = read.written;
    }
    out.kind = F::kind_name;
    out.can = abilities_of<F>();
    out.keys = keys;
    out.bits_per_key = 8 * static_cast<double>(out.size_bytes) / static_cast<double>(keys);
    out.parameters = F::describe(chosen);
    return out;
}

template <class F>
result<candidate> solved(const goal& wanted, std::uint64_t keys_today) {
    if constexpr (buildable_exactly<F>) {
        return failure{error_code::unsupported,
                       "needs the list of every other key that will ever be asked, and is exact then"};
    } else if constexpr (!requires { F::solve(wanted); }) {
        return failure{error_code::unsupported, "the planner cannot size a " + std::string(F::kind_name)};
    } else {
        goal asked = wanted;
        if (growing<F> && keys_today != 0) asked.keys = std::min(keys_today, wanted.keys);
        const auto chosen = F::solve(asked);
        if (!chosen) return chosen.error();
        return described<F>(*chosen, wanted.keys);
    }
}

} // namespace bouncer::planner
