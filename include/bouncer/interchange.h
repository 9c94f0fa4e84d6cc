// Filters as other programs store them: import and export. docs/format.md, "Other programs' files".
//
// Both stream: 2 MiB of memory and 8 bytes per MiB of the filter, whatever the file says of its size. The output is
// replaced in one step, as save() does; on failure it is untouched.
#pragma once

#include <bouncer/result.h>
#include <bouncer/snapshot.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bouncer {

enum class foreign_format : std::uint8_t {
    // DCSO's Go program `bloom`, version 1; kind dcso_bloom. Its n, p and N are keys_designed, fpr_promised and keys_added;
    // the free bytes at its end are the label.
    dcso,
    // The Bloom filter of one column chunk as it stands in a Parquet file: header and bitset; kind split_block_bloom.
    parquet_sbbf,
};

// [any-thread] "dcso", "parquet-sbbf". Any other name: unsupported.
result<foreign_format> foreign_format_of(std::string_view name);
std::string_view name_of(foreign_format format) noexcept;
// [any-thread] The kind that holds such a filter.
std::string_view kind_of(foreign_format format) noexcept;

struct import_options {
    // A label has at most 1024 bytes. A DCSO file with more free bytes than that is refused (too_large) or, so, imported
    // without them.
    bool drop_metadata = false;
    bool durable = true; // these as in save_options
    bool replace = true;
    change_lock* lock = nullptr;
};

// [any-thread] A snapshot of what `input` holds. Nothing is written, and no memory taken by the size the header names,
// before every byte that it promises has been seen. Errors: io; corrupt (the header makes no sense, bytes are missing,
// or there are too many); unknown_version, unsupported, too_large (a form or a size that this library does not have).
result<snapshot_info> import_file(foreign_format format, const std::string& input, const std::string& output,
                                  const import_options& options = {});

// [any-thread] The same of bytes that can be had twice, such as those of a compressed file: `open` gives a source that
// starts at the first byte. It is called two times, because the end of the input comes to stand at the front.
using source_opener = std::function<result<byte_source>()>;
result<snapshot_info> import_bytes(foreign_format format, const source_opener& open,
                                   const std::string& output, const import_options& options = {});

// [any-thread] The filter in a snapshot as a file of the other program. Returns what the snapshot says of itself.
// mismatch: it holds another kind; unsupported: its keys have a form. What a DCSO file must say and the snapshot does not is worked out: n as the keys at
// which half the bits are set, p as the exact rate at n, N from the bits, which takes one more read.
result<snapshot_info> export_file(foreign_format format, const std::string& input, const std::string& output,
                                  bool durable = true, bool replace = true, change_lock* lock = nullptr);

} // namespace bouncer
