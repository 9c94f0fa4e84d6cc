// The memory limit of one size: the fastest loops, on both page sizes, measured in the rounds of the rows they bound.
#pragma once

#include "line_buffer.h"
#include "plugin.h"
#include "row.h"

#include <memory>
#include <span>
#include <vector>

namespace bench {

class limit_set {
  public:
    // Tries every loop of the native build shortly, and keeps the best three per page size.
    limit_set(const limit_list& loops, std::uint64_t bytes, std::span<const std::uint64_t> pool);

    // Sizes that differ by less than 3 % share their limit.
    bool serves(std::uint64_t bytes) const;

    std::size_t size() const { return candidates_.size(); }
    // Runs a chunk; the first of a round opens it, further ones can only lower it.
    void run(std::size_t candidate, unsigned chunk_number, bool first);

    // The ns of every round of the fastest loop for rows on such pages: for huge ones the best of both sizes, since
    // small filters do not get them.
    const std::vector<double>& rounds(page_size pages) const;
    std::vector<row> rows(std::uint64_t keys) const;

  private:
    struct candidate {
        const limit_loop* loop;
        const line_buffer* buffer;
        page_size pages;
        std::vector<double> rounds;
    };

    double time(const candidate& of, unsigned round) const;

    std::uint64_t bytes_;
    std::span<const std::uint64_t> pool_;
    std::unique_ptr<line_buffer> small_;
    std::unique_ptr<line_buffer> huge_;
    std::vector<candidate> candidates_;
};

} // namespace bench
