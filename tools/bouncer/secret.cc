#include "secret.h"

#include "byte_input.h"
#include "nearest.h"
#include "signals.h"
#include "tool_error.h"

#include <CLI/CLI.hpp>

#include <array>

namespace bouncer::tool {

secret_key read_key_file(const std::string& path) {
    // It may be a pipe that stays silent: a signal must end the wait. A file called "-" is a file.
    byte_input file = byte_input::open(path == "-" ? "./-" : path, true);
    std::array<char, 64> bytes{};
    std::string text;
    while (text.size() < bytes.size()) {
        const std::size_t got = file.read(bytes.data(), bytes.size() - text.size());
        stop_if_interrupted();
        if (got == 0) break;
        text.append(bytes.data(), got);
    }
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    auto key = secret_key::from_hex(text);
    if (!key) throw tool_error(path + ": a key file holds 32 hexadecimal digits and nothing else");
    return *key;
}

std::string hash_choices_text(std::span<const hash_info> hashes) {
    std::string open = std::string(hashes.front().name) + " (default)", secret;
    for (const hash_info& each : hashes.subspan(1)) {
        std::string& list = each.takes_key ? secret : open;
        list += (list.empty() ? "" : each.takes_key ? " and " : ", ") + std::string(each.name);
    }
    return open + "; " + secret + " with --key-file";
}

std::optional<secret_key> hash_flags::key() const {
    if (key_file.empty()) return std::nullopt;
    return read_key_file(key_file);
}

any_hasher hash_flags::hasher() const {
    const auto secret = key();
    const std::string chosen(!name.empty() ? name : secret ? siphash13::name : xxh3::name);
    auto made = any_hasher::make(chosen, 0, secret);
    if (made) return *made;
    bool about_key = secret.has_value();
    std::vector<std::string> names;
    for (const hash_info& each : all_hashes) {
        about_key |= each.takes_key && each.name == chosen;
        names.emplace_back(each.name);
    }
    throw tool_error((about_key ? "--hash and --key-file: " : "--hash: ") + made.error().message +
                     suggestion(chosen, names));
}

void add_hash_flags(CLI::App& command, hash_flags& out) {
    command.add_option("--hash", out.name, hash_choices_text() + ": --hash xxh64")->type_name("NAME");
    add_key_file_flag(command, out.key_file);
}

void add_key_file_flag(CLI::App& command, std::string& key_file) {
    command
        .add_option(
            "--key-file", key_file,
            "Secret key for keys that strangers choose: a file with 32 hex digits; implies siphash13. "
            "head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n' > secret.key")
        ->type_name("FILE");
}

} // namespace bouncer::tool
