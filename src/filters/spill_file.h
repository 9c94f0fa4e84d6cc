// A temporary file of 64-bit words that no name leads to: it is gone when it is closed, whatever ends the process.
#pragma once

#include <bouncer/result.h>

#include "base/descriptor.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace bouncer::detail {

// Thread safety: read() and write() from any thread, for words that nobody else writes meanwhile; the rest [exclusive].
//   1. The file has no name while an object exists. (Where a file system has no nameless files, its name is gone a moment
//      after it was made, before create() returns.)
class spill_file {
  public:
    // [any-thread] In `folder`; if that is empty, in $TMPDIR or /tmp. Errors: io, with the folder and the system's text.
    static result<spill_file> create(const std::string& folder);

    // [any-thread] Words from word `first`. Errors: io, as in create(); a full disk is one.
    result<void> write(std::uint64_t first, std::span<const std::uint64_t> words) const;
    // [any-thread] Errors: io; words that were never written too.
    result<void> read(std::uint64_t first, std::span<std::uint64_t> words) const;

  private:
    spill_file(std::string folder, descriptor file) noexcept
        : folder_(std::move(folder)), file_(std::move(file)) {}

    std::string folder_;
    descriptor file_;
};

} // namespace bouncer::detail
