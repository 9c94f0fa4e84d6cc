// bouncer verify: every byte of a filter's file against its checksums.
#include "commands.h"
#include "file_report.h"
#include "filter_file.h"
#include "keyless_filter.h"
#include "text.h"
#include "tool_error.h"

#include "format/envelope.h"
#include "format/kinds.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace bouncer::tool {

namespace {

struct verify_options {
    std::vector<std::string> paths;
    bool json = false;
    bool quiet = false;
};

std::string ok_text(const snapshot_info& info) {
    const std::string kind(detail::find_kind(info.kind)->name);
    const std::uint64_t chunks = detail::chunk_count(info.payload_bytes);
    if (info.state == file_state::live)
        return "ok (" + kind + ", " + bytes_text(info.payload_bytes) +
               ", live: header and size are right, the payload has no checksums)";
    return "ok (" + kind + ", " + bytes_text(info.payload_bytes) + ", header, footer and " +
           count_text(chunks) + (chunks == 1 ? " chunk" : " chunks") + ')';
}

int verify(const verify_options& chosen) {
    int code = exit_done;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& path : chosen.paths) {
        refuse_as_output(path);
        const auto info = bouncer::verify(path);
        nlohmann::ordered_json one{{"file", json_text(path)}, {"ok", info.has_value()}};
        if (info) {
            one["kind"] = detail::find_kind(info->kind)->name;
            one["state"] = info->state == file_state::live ? "live" : "sealed";
            one["payload_checked"] = info->state == file_state::sealed;
            one["size_bytes"] = info->payload_bytes;
            if (!chosen.json && !chosen.quiet) std::cout << line_text(path) << ": " << ok_text(*info) << '\n';
        } else {
            const bool damaged = info.error().code == error_code::corrupt;
            code = std::max(code, damaged ? exit_none : exit_error);
            const std::string why = explained(info.error(), path).message;
            one["damaged"] = damaged;
            one["error"] = json_text(why);
            std::cout.flush();
            complain("verify", why);
        }
        list.push_back(std::move(one));
    }
    if (chosen.json) std::cout << list.dump(2) << '\n';
    return code;
}

} // namespace

run_function add_verify(CLI::App& command) {
    auto chosen = std::make_shared<verify_options>();
    command.add_option("FILTER", chosen->paths, "The files: bouncer verify *.bnc")
        ->type_name("FILE.bnc")
        ->required();
    command.add_flag("-q,--quiet", chosen->quiet, "No line for files that are right: verify -q *.bnc");
    command.add_flag("--json", chosen->json, "A list with an entry for each file: verify --json *.bnc");
    command.footer(
        "Exit status: 0 all are right; 1 one is damaged, cut off or no filter, and the message says where;\n"
        "2 one cannot be read or is of a later version. Of a live file (one that processes have open for\n"
        "writing) the payload has no checksums. Example:\n"
        "  bouncer verify /var/lib/filters/*.bnc");
    return [chosen] { return verify(*chosen); };
}

} // namespace bouncer::tool
