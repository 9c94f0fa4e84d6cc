#include "keys.h"

#include "numbers.h"
#include "tool_error.h"

#include "format/envelope.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace bouncer::tool {

namespace {

constexpr std::array<std::int8_t, 256> hex_values = [] {
    std::array<std::int8_t, 256> out{};
    out.fill(-1);
    for (int i = 0; i < 10; ++i) out[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
    for (int i = 0; i < 6; ++i) {
        out[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
        out[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
    }
    return out;
}();

// Enough of a key for a message, without bytes that would upset a terminal.
std::string excerpt(std::string_view key) {
    std::string out(key.substr(0, 40));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > 126) c = '?';
    return '"' + out + (key.size() > 40 ? "...\"" : "\"");
}

} // namespace

key_maker::key_maker(const input_options& where, const key_form& form)
    : where_(where), form_(form), plain_(!where.field && form == key_form{}), keys_(batch) {
    where_.files.clear();
}

std::string_view key_maker::key_of(std::string_view record, std::size_t index, char*& scratch) const {
    if (where_.field) {
        std::uint64_t field = 1;
        std::size_t first = 0;
        for (; field < *where_.field; ++field) {
            const std::size_t delimiter = record.find(where_.delimiter, first);
            if (delimiter == std::string_view::npos)
                throw bad_record(index, "there is no field " + std::to_string(*where_.field) + ": " +
                                            std::to_string(field) + (field == 1 ? " field" : " fields") +
                                            " in " + excerpt(record));
            first = delimiter + 1;
        }
        record = record.substr(first, record.find(where_.delimiter, first) - first);
    }
    if (form_.hex) {
        if (record.size() % 2 != 0)
            throw bad_record(index, "not hexadecimal: " + std::to_string(record.size()) + " digits in " +
                                        excerpt(record));
        char* const begin = scratch;
        for (std::size_t i = 0; i < record.size(); i += 2) {
            const int high = hex_values[static_cast<unsigned char>(record[i])];
            const int low = hex_values[static_cast<unsigned char>(record[i + 1])];
            if ((high | low) < 0) throw bad_record(index, "not hexadecimal: " + excerpt(record));
            *scratch++ = static_cast<char>(high << 4 | low);
        }
        record = {begin, record.size() / 2};
    }
    if (form_.fold_case) {
        // In place where the bytes are ours already.
        char* const to = form_.hex ? scratch - record.size() : scratch;
        for (std::size_t i = 0; i < record.size(); ++i) {
            const char c = record[i];
            to[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
        }
        if (!form_.hex) scratch += record.size();
        record = {to, record.size()};
    }
    return record;
}

void key_maker::make(const chunk& from, std::size_t first, std::size_t count) {
    if (plain_) {
        for (std::size_t i = 0; i < count; ++i) keys_[i] = from.content(first + i);
        return;
    }
    // No form makes a key longer than its record.
    if (const std::size_t most = from.framed(first, first + count).size(); scratch_.size() < most)
        scratch_.resize(most);
    char* scratch = scratch_.data();
    for (std::size_t i = 0; i < count; ++i) keys_[i] = key_of(from.content(first + i), first + i, scratch);
}

void key_maker::hash(const chunk& from, const any_hasher& hasher, std::vector<std::uint64_t>& hashes) {
    hashes.resize(from.records());
    each_batch(from, [&](std::size_t first, std::span<const std::string_view> keys) {
        hasher.batch(keys, std::span(hashes).subspan(first, keys.size()));
    });
}

void add_input_flags(CLI::App& command, input_options& out) {
    auto* const zero = command.add_flag_callback(
        "-0,--null", [&out] { out.frame = framing::zero_terminated; },
        "Keys end with a zero byte, not a line end: find . -print0 | bouncer ... -0");
    command
        .add_flag_callback(
            "--length-prefixed", [&out] { out.frame = framing::length_prefixed; },
            "Binary keys, each 4 bytes of little-endian length and then its bytes: check --length-prefixed "
            "ids.bnc ids.bin")
        ->excludes(zero);
    command
        .add_option_function<std::string>(
            "--field",
            [&out](const std::string& text) {
                const auto field = parse_count(text);
                if (!field) throw CLI::ValidationError("--field", field.error().message);
                if (*field == 0) throw CLI::ValidationError("--field", "fields are numbered from 1");
                out.field = *field;
            },
            "The key is this field of the line, from 1: --field 3 --delimiter ,")
        ->type_name("N");
    command
        .add_option_function<std::string>(
            "--delimiter",
            [&out](const std::string& text) {
                if (text == "\\t")
                    out.delimiter = '\t';
                else if (text.size() == 1)
                    out.delimiter = text[0];
                else
                    throw CLI::ValidationError("--delimiter",
                                               "\"" + text + "\" is not one byte, such as , or \\t");
            },
            "What separates fields, one byte (default: tab): --delimiter ,")
        ->type_name("C")
        ->needs("--field");
    command
        .add_option("INPUT", out.files,
                    "Files, - for standard input (the default); gzip, zstd, xz, bzip2 and lz4 are seen by "
                    "their first "
                    "bytes")
        ->type_name("FILE");
}

void add_form_flags(CLI::App& command, form_flags& out) {
    command.add_flag("--hex", out.hex,
                     "Keys are hexadecimal and are decoded: AB12 and ab12 are one key of 2 bytes");
    command.add_flag("--fold-case", out.fold_case,
                     "A to Z become a to z: Mail@X.org and mail@x.org are one key");
}

key_form form_of(const snapshot_info& stored, const form_flags& asked, const std::string& path) {
    if ((asked.hex && !stored.keys.hex) || (asked.fold_case && !stored.keys.fold_case))
        throw tool_error(path + ": its keys are taken " + describe(stored.keys) + ", and " +
                         (asked.hex && !stored.keys.hex ? "--hex" : "--fold-case") +
                         " would look for others");
    return stored.keys;
}

std::string describe(const key_form& form) {
    return detail::form_text(form);
}

} // namespace bouncer::tool
