#include "info_text.h"

#include "keyless_filter.h"
#include "keys.h"
#include "text.h"
#include "window.h"

#include "format/kinds.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>

namespace bouncer::tool {

namespace {

void line(std::string& out, const std::string& name, const std::string& value) {
    out += name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + value + '\n';
}

std::string keys_text(double keys) {
    if (std::isinf(keys)) return "more than it can tell: every bit is set";
    return "about " + count_text(static_cast<std::uint64_t>(keys + 0.5));
}

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
    if (!value) return nullptr;
    return *value; // an infinite one is written as null
}

nlohmann::ordered_json json_of(const file_report& r) {
    return {{"file", json_text(r.path)},
            {"kind", r.kind},
            {"parameters", r.parameters},
            {"size_bytes", r.info.payload_bytes},
            {"file_bytes", r.file_bytes},
            {"bits_per_key", or_null(r.bits_per_key)},
            {"keys_design", or_null(r.keys_design)},
            {"keys_added", or_null(r.keys_added)},
            {"keys_estimated", or_null(r.keys_estimated)},
            {"keys_capacity", or_null(r.keys_capacity)},
            {"fill_ratio", or_null(r.fill_ratio)},
            {"fpr_promised", or_null(r.fpr_promised)},
            {"fpr_expected", or_null(r.fpr_expected)},
            {"overfull", r.overfull},
            {"epoch", or_null(r.epoch)},
            {"window_seconds", or_null(window_seconds(r.info.window))},
            {"hash", hash_name(r.info.hash)},
            {"hash_seed_or_fingerprint", hex_text(r.info.hash.seed_or_fingerprint)},
            {"keyed", is_keyed(r.info.hash)},
            {"key_form", {{"hex", r.info.keys.hex}, {"fold_case", r.info.keys.fold_case}}},
            {"label", json_text(r.info.label)},
            {"created", time_text(r.info.created_seconds)},
            {"created_seconds", r.info.created_seconds},
            {"compressed", r.info.compressed},
            {"state", r.info.state == file_state::live ? "live" : "sealed"},
            {"id", id_text(r.info)},
            {"format_version", r.info.format_version},
            {"layout_version", r.info.layout_version},
            {"checksum", r.checksum ? nlohmann::ordered_json(hex_text(*r.checksum)) : nullptr}};
}

// Adds are counted by a sketch, and may repeat keys; a build of a static kind knows its keys. A number that is that of the
// design to the last digit is shown so: rounded beside it, it would look like a loss.
std::string added_text(const file_report& r) {
    const detail::kind_entry* const kind = detail::find_kind(r.info.kind);
    if (kind != nullptr && kind->is_static) return count_text(*r.keys_added);
    return r.keys_added == r.keys_design ? "≈" + count_text(*r.keys_added) : about_text(*r.keys_added);
}

// The value of a label: backslash, quote and line end are escaped. The format takes all of UTF-8, and nothing else: control bytes,
// which would upset whoever reads the page, and all beyond ASCII of a text that is no UTF-8 become \xff. So names that differ in
// such bytes stay different.
std::string label_value(const std::string& text) {
    const bool utf8 = json_text(text) == text;
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\\' || c == '"') {
            out += std::string{'\\', c};
        } else if (byte < ' ' || byte == 127 || (byte > 127 && !utf8)) {
            std::array<char, 8> shown{};
            std::snprintf(shown.data(), shown.size(), "\\\\x%02x", byte);
            out += shown.data();
        } else {
            out += c;
        }
    }
    return out;
}

std::string metric_number(double value) {
    if (std::isinf(value)) return "+Inf";
    return number_text(value, 17);
}

} // namespace

std::string info_lines(std::span<const file_report> reports) {
    std::string out;
    for (const file_report& r : reports) {
        if (!out.empty()) out += '\n';
        line(out, "file", line_text(r.path) + ", " + bytes_text(r.file_bytes));
        line(out, "kind", r.kind);
        line(out, "parameters", r.parameters);
        line(out, "size",
             bytes_text(r.info.payload_bytes) + " in memory" +
                 (r.bits_per_key ? ", " + number_text(*r.bits_per_key, 4) + " bits per key" : "") +
                 (r.info.compressed ? ", compressed in the file" : ""));
        line(out, "keys designed", r.keys_design ? count_text(*r.keys_design) : "not told");
        line(out, "keys added", r.keys_added ? added_text(r) : "not told");
        line(out, "keys estimated",
             r.keys_estimated ? keys_text(*r.keys_estimated) : "not known to this kind");
        if (r.fill_ratio) line(out, "fill", rate_text(*r.fill_ratio));
        if (r.epoch)
            line(out, "window",
                 window_text(r.info.window) + ", epoch " + std::to_string(*r.epoch) +
                     (r.epoch_now ? " (now " + std::to_string(*r.epoch_now) + ")" : ""));
        line(out, "rate promised", r.fpr_promised ? rate_text(*r.fpr_promised) : "not told");
        line(out, "rate now", r.fpr_expected ? rate_text(*r.fpr_expected) : "not known to this kind");
        if (r.keys_capacity) line(out, "room", count_text(*r.keys_capacity) + " keys at the promised rate");
        line(out, "hash", to_string(r.info.hash));
        line(out, "keys are taken", describe(r.info.keys));
        if (!r.info.label.empty()) line(out, "label", line_text(r.info.label));
        line(out, "created", time_text(r.info.created_seconds));
        line(out, "state",
             r.info.state == file_state::live ? "live: opened for writing, its payload has no checksums"
                                              : "sealed");
        line(out, "id", id_text(r.info));
        line(out, "format",
             std::to_string(r.info.format_version) + ", layout " + std::to_string(r.info.layout_version));
        if (r.checksum) line(out, "checksum", hex_text(*r.checksum) + ", every byte is as it was written");
        if (r.overfull)
            line(out, "warning",
                 "overfull: the rate is " + rate_text(*r.fpr_expected) + " now, " +
                     number_text(*r.fpr_expected / *r.fpr_promised) + " times the promised one; " +
                     (r.epoch ? "a step has more than its share of keys: rotate more often, or build it anew "
                                "with a larger --expect"
                              : "build it anew with --expect, or with --kind scalable"));
    }
    return out;
}

std::string info_json(std::span<const file_report> reports, bool as_list) {
    if (!as_list) return json_of(reports.front()).dump(2) + "\n";
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const file_report& each : reports) list.push_back(json_of(each));
    return list.dump(2) + "\n";
}

std::string info_prometheus(std::span<const file_report> reports) {
    std::string out;
    // A sample for each file that knows the value; a metric that none knows is left out.
    const auto metric = [&](const std::string& name, const std::string& help, auto value) {
        std::string samples;
        for (const file_report& each : reports) {
            const std::optional<double> number = value(each);
            if (number)
                samples += "bouncer_filter_" + name + "{file=\"" + label_value(each.path) + "\"} " +
                           metric_number(*number) + '\n';
        }
        if (samples.empty()) return;
        out += "# HELP bouncer_filter_" + name + ' ' + help + "\n# TYPE bouncer_filter_" + name + " gauge\n" +
               samples;
    };
    const auto number = [](const auto& from) -> std::optional<double> {
        if (!from) return std::nullopt;
        return static_cast<double>(*from);
    };
    using report = const file_report&;
    out += "# HELP bouncer_filter_info What the filter is; always 1.\n# TYPE bouncer_filter_info gauge\n";
    for (const file_report& each : reports)
        out += "bouncer_filter_info{file=\"" + label_value(each.path) + "\",kind=\"" +
               label_value(each.kind) + "\",hash=\"" + label_value(hash_name(each.info.hash)) +
               "\",state=\"" + (each.info.state == file_state::live ? "live" : "sealed") + "\",label=\"" +
               label_value(each.info.label) + "\"} 1\n";
    metric("size_bytes", "Size of the filter in memory.",
           [](report r) { return std::optional(static_cast<double>(r.info.payload_bytes)); });
    metric("file_size_bytes", "Size of the file.",
           [](report r) { return std::optional(static_cast<double>(r.file_bytes)); });
    metric("keys_designed", "Keys the filter was made for.", [&](report r) { return number(r.keys_design); });
    metric("keys_added", "Keys that were added, as the file says.",
           [&](report r) { return number(r.keys_added); });
    metric("keys_estimated", "Distinct keys, estimated from the bits.",
           [&](report r) { return number(r.keys_estimated); });
    metric("fill_ratio", "Share of bits that are set.", [&](report r) { return number(r.fill_ratio); });
    metric("false_positive_ratio_promised", "False-positive rate that was asked for.",
           [&](report r) { return number(r.fpr_promised); });
    metric("false_positive_ratio_expected", "False-positive rate of the bits as they are.",
           [&](report r) { return number(r.fpr_expected); });
    metric("overfull", "1 when it holds more keys than the promised rate allows, beyond chance.",
           [](report r) { return std::optional(r.overfull ? 1.0 : 0.0); });
    metric("created_timestamp_seconds", "When the file was written, since 1970.",
           [](report r) { return std::optional(static_cast<double>(r.info.created_seconds)); });
    return out;
}

} // namespace bouncer::tool
