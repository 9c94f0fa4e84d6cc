// bouncer import: a filter that another program wrote becomes one of ours.
#include "byte_input.h"
#include "commands.h"
#include "file_signature.h"
#include "output_file.h"
#include "stored_filter.h"
#include "text.h"
#include "tool_error.h"

#include "format/kinds.h"

#include <bouncer/interchange.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace bouncer::tool {

namespace {

struct import_flags {
    std::string format;
    std::string input;
    std::string output;
    bool force = false;
    bool drop_metadata = false;
    bool json = false;
};

// Compressed files are read twice, because what ends them comes to stand at the front of ours.
result<snapshot_info> import_compressed(foreign_format format, const import_flags& flags,
                                        const import_options& options) {
    const auto open = [&]() -> result<byte_source> {
        auto input = std::make_shared<byte_input>(byte_input::open(flags.input));
        return byte_source([input](std::span<std::byte> into) -> result<std::size_t> {
            return input->read(reinterpret_cast<char*>(into.data()), into.size());
        });
    };
    return import_bytes(format, open, flags.output, options);
}

// Why it failed. Of a file that is something else, that; what is wrong behind the first bytes only its reader knows.
std::string reason(foreign_format format, const import_flags& flags, bool packed, const failure& why) {
    if (why.message.find(flags.output) != std::string::npos) return why.message;
    const look is = packed ? look{} : look_of(flags.input);
    const bool dcso = format == foreign_format::dcso;
    const bool content = why.code == error_code::corrupt || why.code == error_code::unknown_version;
    if (!content || is.name.empty() || is.kind == (dcso ? file_kind::dcso_filter : file_kind::parquet_filter))
        return detail::in_file(why, flags.input).message;
    return flags.input + ": this is " + std::string(is.name) + ", not " +
           std::string(dcso ? dcso_filter_name : parquet_filter_name);
}

int run_import(const import_flags& flags) {
    const foreign_format format = format_of(flags.format);
    check_output(flags.output, flags.force, {&flags.input, 1}, is_filter_file);
    change_lock lock = lock_output(flags.output, is_filter_file);
    const import_options options{
        .drop_metadata = flags.drop_metadata, .replace = flags.force && lock, .lock = &lock};
    if (flags.input == "-")
        throw tool_error("standard input cannot be read twice, as an import needs; name a file");
    const bool packed = byte_input::open(flags.input).compressed();
    const auto made = packed ? import_compressed(format, flags, options)
                             : import_file(format, flags.input, flags.output, options);
    if (!made) throw tool_error(reason(format, flags, packed, made.error()));
    const snapshot_info& info = *made;
    if (flags.json) {
        nlohmann::json out{{"kind", kind_of(format)},
                           {"format", name_of(format)},
                           {"output", flags.output},
                           {"size_bytes", info.payload_bytes},
                           {"label_bytes", info.label.size()},
                           {"keys_design", nullptr},
                           {"keys_added", nullptr},
                           {"fpr_promised", nullptr}};
        if (info.keys_designed != 0) out["keys_design"] = info.keys_designed;
        if (info.keys_designed != 0) out["keys_added"] = info.keys_added; // told together
        if (info.fpr_promised != 0) out["fpr_promised"] = info.fpr_promised;
        std::cout << out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
        return exit_done;
    }
    std::cout << flags.output << ": " << kind_of(format) << ", " << bytes_text(info.payload_bytes);
    if (info.keys_designed != 0)
        std::cout << ", " << count_text(info.keys_added) << " keys of " << count_text(info.keys_designed)
                  << " at " << rate_text(info.fpr_promised);
    if (!info.label.empty()) std::cout << ", " << info.label.size() << " bytes of metadata as its label";
    std::cout << '\n';
    return exit_done;
}

} // namespace

run_function add_import(CLI::App& command) {
    const auto flags = std::make_shared<import_flags>();
    command
        .add_option("--format", flags->format,
                    "What wrote it: dcso (the program `bloom`, kind dcso_bloom) or parquet-sbbf (a Bloom "
                    "filter as it\n"
                    "stands in a Parquet file, kind split_block_bloom). Example: --format dcso")
        ->required();
    command
        .add_option(
            "INPUT", flags->input,
            "The file, plain or compressed: gzip, zstd, xz, bzip2, lz4. Example: hashlookup-full.bloom")
        ->required();
    command.add_option("-o,--output", flags->output, "The new file. Example: -o hashlookup.bnc")->required();
    command.add_flag("--force", flags->force,
                     "Replace the output if it exists and is a filter. Example: --force -o known.bnc");
    command.add_flag("--drop-metadata", flags->drop_metadata,
                     "Leave out free bytes of a dcso file that exceed the 1024 of a label, instead of "
                     "refusing it. Example: "
                     "--format dcso --drop-metadata");
    command.add_flag("--json", flags->json,
                     "The report as JSON. Example: bouncer import --json ... | jq .keys_added");
    command.footer("Example: bouncer import --format dcso known.bloom -o known.bnc && bouncer check "
                   "known.bnc hashes.txt");
    return [flags] { return run_import(*flags); };
}

} // namespace bouncer::tool
