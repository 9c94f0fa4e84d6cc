// What a windowed_bloom has of its own: epochs.
#include "c_api/handle.h"

#include <mutex>
#include <string>

using namespace bouncer;
using namespace bouncer::c_api;

namespace {

result<std::uint64_t> epoch_of(const any_filter& filter) {
    return filter.visit([&](const auto& f) -> result<std::uint64_t> {
        if constexpr (requires { f.epoch(); })
            return f.epoch();
        else
            return failure{error_code::unsupported,
                           "a " + std::string(filter.kind_name()) + " has no epoch: a windowed_bloom has"};
    });
}

} // namespace

int bouncer_rotate_to(bouncer_filter* filter, uint64_t epoch) {
    return guarded([&]() -> result<void> {
        if (auto ok = check_changeable(filter); !ok) return ok;
        const std::lock_guard held(filter->rotating);
        return filter->filter.rotate_to(epoch);
    });
}

int bouncer_rotate(bouncer_filter* filter, uint64_t* epoch) {
    return answered(epoch, [&]() -> result<std::uint64_t> {
        if (auto ok = check_changeable(filter); !ok) return ok.error();
        const std::lock_guard held(filter->rotating);
        const auto now = epoch_of(filter->filter);
        if (!now) return now;
        if (auto ok = filter->filter.rotate_to(*now + 1); !ok) return ok.error();
        return *now + 1;
    });
}

int bouncer_epoch(const bouncer_filter* filter, uint64_t* epoch) {
    return answered(epoch, [&]() -> result<std::uint64_t> {
        if (filter == nullptr) return no_handle();
        return epoch_of(filter->filter);
    });
}
