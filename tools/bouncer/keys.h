// From a record of the input to the bytes that are hashed.
#pragma once

#include "records.h"

#include <bouncer/any_hasher.h>
#include <bouncer/snapshot.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace bouncer::tool {

// Where keys are in the input: the flags -0, --length-prefixed, --field, --delimiter, and the files.
struct input_options {
    framing frame = framing::lines;
    std::optional<std::uint64_t> field; // from 1
    char delimiter = '\t';
    std::vector<std::string> files; // none: standard input
};

// Makes keys and hashes of the records of a chunk. [exclusive]: each thread has its own.
class key_maker {
  public:
    key_maker(const input_options& where, const key_form& form);

    // hashes[i] of record i, whole chunk. Throws bad_record.
    void hash(const chunk& from, const any_hasher& hasher, std::vector<std::uint64_t>& hashes);
    // visit(first, keys) for runs of keys, from record `first` on. Throws bad_record.
    template <class Visit>
    void each_batch(const chunk& from, Visit visit) {
        for (std::size_t first = 0; first < from.records(); first += batch) {
            const std::size_t count = std::min(batch, from.records() - first);
            make(from, first, count);
            visit(first, std::span<const std::string_view>(keys_.data(), count));
        }
    }

    static constexpr std::size_t batch = 256;

  private:
    void make(const chunk& from, std::size_t first, std::size_t count);
    std::string_view key_of(std::string_view record, std::size_t index, char*& scratch) const;

    input_options where_;
    key_form form_;
    bool plain_; // a record is its key
    std::vector<std::string_view> keys_;
    std::vector<char> scratch_;
};

// "-0", "--field" and so on, and the positional files.
void add_input_flags(CLI::App& command, input_options& out);
// --hex and --fold-case.
struct form_flags {
    bool hex = false;
    bool fold_case = false;
    key_form form() const noexcept { return {hex, fold_case}; }
};
void add_form_flags(CLI::App& command, form_flags& out);
// The form of a stored filter; flags that ask for what it does not have are an error.
key_form form_of(const snapshot_info& stored, const form_flags& asked, const std::string& path);

std::string describe(const key_form& form); // "as they are", "decoded from hexadecimal, ..."

} // namespace bouncer::tool
