// bouncer export: one of our filters as the file of another program.
#include "commands.h"
#include "filter_file.h"
#include "output_file.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include <bouncer/interchange.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace bouncer::tool {

namespace {

struct export_flags {
    std::string format;
    std::string input;
    std::string output;
    bool force = false;
    bool json = false;
};

int run_export(const export_flags& flags) {
    const foreign_format format = format_of(flags.format);
    check_output(flags.output, flags.force, {&flags.input, 1}, is_any_filter);
    change_lock lock = lock_output(flags.output, is_any_filter);
    value_or_throw(inspect_filter(flags.input));
    const snapshot_info info =
        value_or_throw(export_file(format, flags.input, flags.output, true, flags.force && lock, &lock));
    std::error_code ignored;
    const std::uint64_t bytes = std::filesystem::file_size(flags.output, ignored);
    if (flags.json) {
        const nlohmann::json out{{"kind", kind_of(format)},
                                 {"format", name_of(format)},
                                 {"output", flags.output},
                                 {"size_bytes", info.payload_bytes},
                                 {"file_bytes", bytes}};
        std::cout << out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
        return exit_done;
    }
    std::cout << flags.output << ": " << kind_of(format) << " as " << name_of(format) << ", "
              << bytes_text(bytes) << '\n';
    return exit_done;
}

} // namespace

run_function add_export(CLI::App& command) {
    const auto flags = std::make_shared<export_flags>();
    command
        .add_option("--format", flags->format,
                    "What shall read it: dcso (the program `bloom`; of a dcso_bloom) or parquet-sbbf (header "
                    "and bitset as\n"
                    "they stand in a Parquet file; of a split_block_bloom). Example: --format dcso")
        ->required();
    command.add_option("INPUT", flags->input, "The filter. Example: known.bnc")->required();
    command.add_option("-o,--output", flags->output, "The new file. Example: -o known.bloom")->required();
    command.add_flag("--force", flags->force,
                     "Replace the output if it exists and is a filter. Example: --force -o known.bloom");
    command.add_flag("--json", flags->json,
                     "The report as JSON. Example: bouncer export --json ... | jq .file_bytes");
    command.footer("Example: bouncer build --kind dcso_bloom --fpr 0.001 -o known.bnc hashes.txt && bouncer "
                   "export --format dcso "
                   "known.bnc -o known.bloom && bloom check known.bloom < more.txt");
    return [flags] { return run_export(*flags); };
}

} // namespace bouncer::tool
