#include "file_report.h"

#include "tool_error.h"
#include "window.h"

#include <bouncer/math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace bouncer::tool {

namespace {

// The last 8 bytes of a sealed file, little-endian: docs/format.md.
std::optional<std::uint64_t> footer_checksum(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<unsigned char, 8> bytes{};
    if (!file.seekg(-8, std::ios::end) || !file.read(reinterpret_cast<char*>(bytes.data()), 8))
        return std::nullopt;
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 8; ++i) out |= std::uint64_t{bytes[i]} << (8 * i);
    return out;
}

template <class T>
std::optional<T> told(const result<T>& from) {
    if (!from) return std::nullopt;
    return *from;
}

} // namespace

file_report report_of(const std::string& path, const snapshot_info& info, const any_filter& filter) {
    file_report out;
    out.path = path;
    out.info = info;
    std::error_code error;
    out.file_bytes = std::filesystem::file_size(path, error);
    if (error) throw tool_error(path + ": " + error.message());
    out.kind = filter.kind_name();
    out.parameters = filter.parameters();
    if (info.keys_designed > 0) out.keys_design = info.keys_designed;
    if (info.keys_added > 0) out.keys_added = info.keys_added;
    if (info.fpr_promised > 0) out.fpr_promised = info.fpr_promised;
    out.keys_estimated = told(filter.approximate_size());
    out.fill_ratio = told(filter.fill_ratio());
    out.fpr_expected = told(filter.expected_fpr());
    if (out.fpr_promised) {
        out.keys_capacity = told(filter.capacity(*out.fpr_promised));
        out.overfull = told(filter.overfull(*out.fpr_promised)).value_or(false);
    }
    filter.visit([&]<class F>(const F& f) {
        std::uint32_t steps = 1;
        if constexpr (requires { f.window_steps(); }) {
            steps = f.window_steps();
            out.epoch = f.epoch();
            if (info.window.count() != 0) out.epoch_now = schedule_of(info.window, steps).epoch_now();
        }
        if constexpr (requires { f.overfull(0.01), f.shape(); }) {
            out.can_overfill = true;
            if (out.keys_capacity)
                out.fill_designed =
                    math::expected_fill(f.shape(), static_cast<double>(*out.keys_capacity / steps));
        }
    });
    double keys = out.keys_design ? static_cast<double>(*out.keys_design) : out.keys_estimated.value_or(0);
    if (out.overfull || filter.kind() == atomic_scalable_bloom::kind_id)
        keys = std::max(keys, out.keys_estimated.value_or(0));
    if (keys >= 1 && std::isfinite(keys))
        out.bits_per_key = static_cast<double>(filter.size_bytes()) * 8 / keys;
    if (info.state == file_state::sealed) out.checksum = footer_checksum(path);
    return out;
}

bool is_keyed(const hash_spec& spec) noexcept {
    const hash_info* const known = detail::find_hash(spec.algorithm);
    return known && known->takes_key;
}

std::string hash_name(const hash_spec& spec) {
    const std::string text = to_string(spec);
    return text.substr(0, text.find(','));
}

std::string id_text(const snapshot_info& info) {
    std::string out;
    for (const std::byte each : info.id) {
        std::array<char, 3> two{};
        std::snprintf(two.data(), two.size(), "%02x", std::to_integer<unsigned>(each));
        out += two.data();
    }
    return out;
}

std::string time_text(std::int64_t seconds) {
    const auto when = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 80> text{};
    if (::gmtime_r(&when, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return std::to_string(seconds) + " s since 1970";
    return text.data();
}

std::string hex_text(std::uint64_t value) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

} // namespace bouncer::tool
