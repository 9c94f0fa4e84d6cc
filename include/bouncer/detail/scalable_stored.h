// A chain as numbers: the fields of its header. docs/format.md
//
//   0-6  the parameters                  7  the remaining rate        8  layers, 1 to 64
//   then for each layer: the first field of its filter; the others, 32 bits each, two to a field; capacity; count; rate
#pragma once

#include <bouncer/detail/layout.h>
#include <bouncer/detail/scalable_plan.h>
#include <bouncer/detail/stored.h>
#include <bouncer/result.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bouncer::detail {

template <class F>
class chain_fields {
  public:
    static constexpr std::size_t own_count = F::layout_type::field_count;
    static constexpr std::size_t packed_count = 1 + own_count / 2;
    static constexpr std::size_t per_layer = packed_count + 3;
    static constexpr std::size_t remaining_at = scalable_fields::field_count;
    static constexpr std::size_t layers_at = remaining_at + 1;
    static constexpr std::size_t head = layers_at + 1;
    static_assert(head + per_layer * scalable_layers_most <= 367, "a header has no room for more fields");

    struct layer {
        std::array<std::uint64_t, own_count> own; // as F stores them
        std::uint64_t capacity;
        std::uint64_t count;
        double rate;
    };

    // [any-thread] The head of a chain, to which append adds its layers.
    static std::vector<std::uint64_t> begin(const scalable_parameters& chosen, double remaining,
                                            std::uint32_t layers) {
        std::vector<std::uint64_t> out = scalable_fields::fields_of(chosen);
        out.reserve(head + layers * per_layer);
        out.push_back(std::bit_cast<std::uint64_t>(remaining));
        out.push_back(layers);
        return out;
    }
    static void append(std::vector<std::uint64_t>& out, const std::vector<std::uint64_t>& own,
                       std::uint64_t capacity, std::uint64_t count, double rate) {
        out.push_back(own[0]);
        for (std::size_t i = 1; i < own_count; i += 2)
            out.push_back(own[i] | (i + 1 < own_count ? own[i + 1] << 32 : 0));
        out.push_back(capacity);
        out.push_back(count < scalable_keys_most ? count : scalable_keys_most);
        out.push_back(std::bit_cast<std::uint64_t>(rate));
    }

    // [any-thread] Checks every field; how many words follow. Allocates nothing but messages and, for the rate of a
    // layer, some KiB. Takes less than 1 ms a layer.
    static result<std::uint64_t> words(std::span<const std::uint64_t> fields) {
        if (fields.size() < head)
            return failure{error_code::invalid_argument, "a chain has at least " + std::to_string(head) +
                                                             " fields, and there are " +
                                                             std::to_string(fields.size())};
        const scalable_parameters chosen = parameters(fields);
        if (auto ok = scalable_check(chosen); !ok) return ok.error();
        const std::uint64_t layers = fields[layers_at];
        if (layers == 0 || layers > scalable_layers_most)
            return failure{error_code::invalid_argument,
                           "a chain has 1 to 64 layers, and this one " + std::to_string(layers)};
        if (const std::size_t wanted = head + static_cast<std::size_t>(layers) * per_layer;
            fields.size() != wanted)
            return failure{error_code::invalid_argument,
                           std::to_string(layers) + " layers have " + std::to_string(wanted) +
                               " fields, and there are " + std::to_string(fields.size())};
        std::uint64_t sum = 0; // at most 64 times 2^44
        double spent = 0;
        for (std::uint32_t i = 0; i < layers; ++i) {
            const layer each = at(fields, i);
            auto own = storage_access::words<F>(each.own);
            if (!own) return in_layer(i, own.error());
            if constexpr (own_count % 2 == 0) {
                if (fields[head + i * per_layer + packed_count - 1] >> 32 != 0)
                    return in_layer(i, {error_code::invalid_argument, "the upper half of a field is not 0"});
            }
            if (auto ok = check_stored_layer(each.capacity, each.count, each.rate); !ok)
                return in_layer(i, ok.error());
            const typename F::layout_type shaped(F::layout_type::from_fields(each.own.data()));
            if (auto ok = check_stored_capacity(shaped.shape(), each.capacity, each.rate); !ok)
                return in_layer(i, ok.error());
            sum += *own;
            spent += each.rate;
        }
        if (auto ok = check_stored_rates(chosen.rate, spent, remaining(fields)); !ok) return ok.error();
        if (sum > words_most)
            return failure{error_code::too_large,
                           "the layers have " + std::to_string(sum) + " words, above the limit of 2^44"};
        return sum;
    }

    // [any-thread] Precondition of all: words(fields) has a value.
    static scalable_parameters parameters(std::span<const std::uint64_t> fields) noexcept {
        return scalable_fields::from_fields(fields.data());
    }
    static double remaining(std::span<const std::uint64_t> fields) noexcept {
        return std::bit_cast<double>(fields[remaining_at]);
    }
    static std::uint32_t layers(std::span<const std::uint64_t> fields) noexcept {
        return static_cast<std::uint32_t>(fields[layers_at]);
    }
    static layer at(std::span<const std::uint64_t> fields, std::uint32_t i) noexcept {
        const auto packed = fields.subspan(head + i * per_layer, per_layer);
        layer out{};
        out.own[0] = packed[0];
        for (std::size_t f = 1; f < own_count; ++f) {
            const std::uint64_t pair = packed[1 + (f - 1) / 2];
            out.own[f] = f % 2 == 1 ? pair & UINT32_MAX : pair >> 32;
        }
        out.capacity = packed[packed_count];
        out.count = packed[packed_count + 1];
        out.rate = std::bit_cast<double>(packed[packed_count + 2]);
        return out;
    }

  private:
    static failure in_layer(std::uint32_t i, const failure& why) {
        return {why.code, "layer " + std::to_string(i) + ": " + why.message};
    }
};

} // namespace bouncer::detail
