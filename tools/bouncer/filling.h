// Keys of the input into a filter: what build and add share.
#pragma once

#include "keys.h"
#include "progress.h"
#include "records.h"
#include "stored_filter.h"

#include <bouncer/any_filter.h>
#include <bouncer/any_hasher.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bouncer::tool {

struct filled {
    std::uint64_t records = 0;  // keys of the input, repeated ones too
    std::uint64_t distinct = 0; // of these, within 1 %, if they were counted
    bool exact = false;         // to the last one
    // Adds that found the filter without the key. The keys that were new are more: a false positive seems to be there.
    std::uint64_t surely_new = 0;
};

// Takes the hashes of some keys; returns how many of them surely were not there before.
using add_function = std::function<std::size_t(std::span<const std::uint64_t>)>;

// How a filter takes keys.
enum class adding : std::uint8_t {
    by_all,     // from any thread at once: a filter that others could use meanwhile
    one_by_one, // in turn: what is a third of the work for a filter that nobody else can see
};

// Whether distinct keys are counted as they come: by a sketch (key_sketch.h), 1.7 ns a key, a tenth of a build.
enum class counting : bool { no, by_sketch };

// Adds every key of the input; they are read, cut and hashed on all cores. Throws tool_error; stops when interrupted, and
// the caller looks.
filled add_records(const add_function& add, adding how, record_reader& reader, const input_options& input,
                   const key_form& form, const any_hasher& hasher, const progress_line& bar,
                   counting distinct);

// Hashes of an input whose length nobody knows: in memory up to a cap, then in a file without a name. [exclusive]
class hash_spool {
  public:
    explicit hash_spool(std::uint64_t memory_bytes);
    ~hash_spool();
    void append(std::span<const std::uint64_t> hashes);
    // Moves hashes to the file until those in memory, and what each() takes, are within the cap or none is left to move.
    void shrink(std::uint64_t memory_bytes);
    std::uint64_t memory_bytes() const noexcept;
    std::uint64_t size() const noexcept; // hashes
    // visit(span) over all of them, large spans. Throws tool_error.
    template <class Visit>
    void each(Visit visit) {
        std::vector<std::uint64_t> room;
        for (std::size_t i = 0; i < blocks(); ++i) visit(block(i, room));
    }

  private:
    std::size_t blocks() const noexcept;
    std::span<const std::uint64_t> block(std::size_t i, std::vector<std::uint64_t>& room);

    struct state;
    std::unique_ptr<state> held_;
};
// The hashes of every key of the input, in order.
void spool_records(hash_spool& to, record_reader& reader, const input_options& input, const key_form& form,
                   const any_hasher& hasher, const progress_line& bar);

// How many distinct keys, within 1 %: of hashes by a sketch; of a filter with room for all of its `records` by its fill, which
// costs nothing more than a look. Both say `records` where they cannot tell the two apart.
std::uint64_t distinct_in(hash_spool& hashes);
std::uint64_t distinct_in(const any_filter& filter, std::uint64_t records);

// The records of regular, uncompressed files, standard input too, which are counted first; nothing for other inputs.
std::optional<std::uint64_t> counted_records(const input_options& input, bool quiet);

// "≈645,000 distinct": three digits, or all of them where they are those of `records`.
std::string distinct_text(std::uint64_t distinct, std::uint64_t records);

// What is wrong with a filter that holds more than it was made for, on stderr; nothing otherwise. `keys`: how many it holds, if
// they were counted.
void warn_if_overfull(const any_filter& filter, std::uint64_t keys_designed, double fpr_promised,
                      const std::string& path, std::optional<std::uint64_t> keys = std::nullopt);

} // namespace bouncer::tool
