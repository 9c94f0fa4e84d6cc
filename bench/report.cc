#include "report.h"

#include "options.h"
#include "variant.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace bench {
namespace {

std::string number(double value, int decimals) {
    if (!(value > 0)) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string rate(double value) {
    if (!(value > 0)) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", value * 100);
    return text;
}

std::string note_of(const row& of) {
    std::string note = of.note;
    if (of.percentiles.size() == 4) {
        char text[96];
        std::snprintf(text, sizeof text, "p50 %.1f p99 %.1f p99.9 %.1f p99.99 %.0f ns", of.percentiles[0],
                      of.percentiles[1], of.percentiles[2], of.percentiles[3]);
        note += (note.empty() ? "" : "; ") + std::string(text);
    }
    return note;
}

nlohmann::json json_of(const row& of) {
    nlohmann::json out{
        {"name", of.name},
        {"kind", of.kind},
        {"peer", of.peer},
        {"op", of.op},
        {"keys", of.keys},
        {"threads", of.threads},
        {"page_size", of.page_size},
        {"bits_per_key", of.bits_per_key},
        {"fpr_promised", of.fpr_promised},
        {"fpr_measured", of.fpr_measured},
        {"hit_ratio", of.hit_ratio},
        {"ns_min", of.ns_min},
        {"ns_median", of.ns_median},
        {"mops", of.mops},
        {"limit_ratio", of.limit_ratio},
        {"build", of.build},
        {"note", of.note},
    };
    if (of.percentiles.size() == 4)
        out["latency_ns"] = {{"p50", of.percentiles[0]},
                             {"p99", of.percentiles[1]},
                             {"p99.9", of.percentiles[2]},
                             {"p99.99", of.percentiles[3]}};
    return out;
}

std::ofstream opened(const std::string& path) {
    std::ofstream file(path);
    if (!file) throw bad_request("cannot write " + path);
    return file;
}

void close(std::ofstream& file, const std::string& path) {
    file.close();
    if (!file) throw bad_request("cannot write " + path);
}

} // namespace

void check_writable(const std::string& path) {
    if (!path.empty() && !std::ofstream(path, std::ios::app)) throw bad_request("cannot write " + path);
}

void print_header(std::FILE* to) {
    std::fprintf(to, "%-52s %6s %2s %2s %-8s %6s %8s %8s %8s %8s %5s\n", "name", "keys", "t", "pg", "build",
                 "bits", "fpr %", "ns min", "ns med", "Mop/s", "limit");
}

void print_row(std::FILE* to, const row& of) {
    std::fprintf(to, "%-52s %6s %2u %2s %-8s %6s %8s %8s %8s %8s %5s  %s\n", of.name.c_str(),
                 short_number(of.keys).c_str(), of.threads, of.page_size.c_str(), of.build.c_str(),
                 number(of.bits_per_key, 2).c_str(), rate(of.fpr_measured).c_str(),
                 number(of.ns_min, 2).c_str(), number(of.ns_median, 2).c_str(), number(of.mops, 1).c_str(),
                 number(of.limit_ratio, 2).c_str(), note_of(of).c_str());
    std::fflush(to);
}

void write_json(const std::string& path, const report& of, const nlohmann::json& verdict) {
    nlohmann::json document{{"schema", 1}, {"machine", of.machine}, {"verdict", verdict}};
    document["rows"] = nlohmann::json::array();
    for (const row& one : of.rows) document["rows"].push_back(json_of(one));
    auto file = opened(path);
    file << document.dump(1) << '\n';
    close(file, path);
}

void write_markdown(const std::string& path, const report& of) {
    auto file = opened(path);
    for (const auto& [name, value] : of.machine) file << "- " << name << ": " << value << '\n';
    file << "\n| name | keys | threads | pages | build | bits/key | FPR % | ns min | ns median | Mop/s | of "
            "the limit | "
            "note |\n|---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|---|\n";
    for (const row& one : of.rows)
        file << "| " << one.name << " | " << short_number(one.keys) << " | " << one.threads << " | "
             << one.page_size << " | " << one.build << " | " << number(one.bits_per_key, 2) << " | "
             << rate(one.fpr_measured) << " | " << number(one.ns_min, 2) << " | " << number(one.ns_median, 2)
             << " | " << number(one.mops, 1) << " | " << number(one.limit_ratio, 2) << " | " << note_of(one)
             << " |\n";
    if (!of.verdict.empty()) {
        file << "\n```text\n";
        for (const std::string& line : of.verdict) file << line << '\n';
        file << "```\n";
    }
    close(file, path);
}

} // namespace bench
