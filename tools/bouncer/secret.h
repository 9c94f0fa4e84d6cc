// Secret keys and hashers as the command takes them.
#pragma once

#include <bouncer/any_hasher.h>
#include <bouncer/hash.h>

#include <optional>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace bouncer::tool {

// The key in a file: 32 hexadecimal digits, and at most a line end behind them. Throws tool_error; no message shows a byte of it.
secret_key read_key_file(const std::string& path);

// What --hash takes, in words: "xxh3 (default), xxh64, ...; siphash13 and ... with --key-file".
std::string hash_choices_text(std::span<const hash_info> hashes = all_hashes);

struct hash_flags {
    std::string name; // empty: xxh3, or siphash13 with a key
    std::string key_file;
    std::optional<secret_key> key() const;
    any_hasher hasher() const; // of a new filter
};
void add_hash_flags(CLI::App& command, hash_flags& out); // --hash and --key-file
void add_key_file_flag(CLI::App& command, std::string& key_file);

} // namespace bouncer::tool
