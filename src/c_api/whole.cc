// Operations on a whole filter: merge, clear, fold, stats.
#include "c_api/handle.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

constexpr std::uint32_t first_stats_size = offsetof(bouncer_stats, hash) + sizeof(bouncer_stats::hash);
constexpr std::uint32_t stats_size_most = 4096; // more is a struct that nobody initialised

template <std::size_t Size>
void put_text(char (&to)[Size], std::string_view text) {
    const std::size_t length = std::min(text.size(), Size - 1);
    std::copy_n(text.data(), length, to);
    std::fill(to + length, to + Size, '\0');
}

double or_nan(const result<double>& told) {
    return told ? *told : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t bits_of(const any_filter& filter) {
    return filter.visit([](const auto& f) {
        if constexpr (requires { f.size_bits(); })
            return f.size_bits();
        else
            return f.size_bytes() * 8;
    });
}

} // namespace

int bouncer_merge(bouncer_filter* filter, const bouncer_filter* other) {
    return guarded([&]() -> result<double> {
        if (auto ok = check_changeable(filter); !ok) return ok.error();
        if (other == nullptr) return bad_argument("the other filter is NULL");
        return filter->filter.merge(other->filter);
    });
}

int bouncer_clear(bouncer_filter* filter) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_changeable(filter); !ok) return ok;
        return filter->filter.clear();
    });
}

int bouncer_fold(const bouncer_filter* filter, uint64_t factor, bouncer_filter** out) {
    return guarded([&]() -> result<void> {
        if (filter == nullptr) return no_handle();
        if (out == nullptr) return bad_argument("the place for the filter is NULL");
        auto folded = filter->filter.fold(factor);
        if (!folded) return folded.error();
        auto handle = std::make_unique<bouncer_filter>(std::move(*folded));
        handle->hasher = filter->hasher; // what it was designed for holds no longer
        *out = handle.release();
        return {};
    });
}

int bouncer_get_stats(const bouncer_filter* filter, bouncer_stats* stats) {
    return guarded([&]() -> result<void> {
        if (filter == nullptr) return no_handle();
        if (stats == nullptr) return bad_argument("the place for the stats is NULL");
        const std::uint32_t size = stats->size;
        if (size < first_stats_size || size > stats_size_most)
            return failure{error_code::invalid_argument, "the size of the stats is " + std::to_string(size) +
                                                             ", and should be sizeof(bouncer_stats): start "
                                                             "from BOUNCER_STATS_INIT"};
        bouncer_stats now = BOUNCER_STATS_INIT;
        now.size = size;
        now.writable = filter->filter.writable() && !filter->sealed.load(std::memory_order_relaxed);
        now.size_bytes = filter->filter.size_bytes();
        now.bits = bits_of(filter->filter);
        now.fill_ratio = or_nan(filter->filter.fill_ratio());
        now.keys_estimated = or_nan(filter->filter.approximate_size());
        now.fpr_expected = or_nan(filter->filter.expected_fpr());
        now.fpr_promised = filter->fpr_promised;
        if (now.fpr_promised > 0) {
            const auto over = filter->filter.overfull(now.fpr_promised);
            now.overfull = over && *over;
        }
        put_text(now.kind, filter->filter.kind_name());
        put_text(now.hash, to_string(filter->filter.hash()));
        // A newer caller finds zeros in the fields that this library does not know.
        const std::size_t known = std::min<std::size_t>(size, sizeof now);
        std::memcpy(stats, &now, known);
        std::memset(reinterpret_cast<unsigned char*>(stats) + known, 0, size - known);
        return {};
    });
}
