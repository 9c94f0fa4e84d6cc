// The engine: variants that are to be compared run in turns.
#pragma once

#include "hashes.h"
#include "instance.h"
#include "limits.h"
#include "operations.h"
#include "row.h"

#include <deque>
#include <string>
#include <vector>

namespace bench {

struct measured {
    variant what;
    row result;                            // of a crowd, rounds are medians; else the least of a round
    std::vector<double> typical = {};      // the median of every round, to hold one thread against several
    std::vector<double> limit_rounds = {}; // of the limit that bounds it; empty: none
    bool fpr_wrong = false;
    bool limit_is_wrong = false; // it was beaten

    bool crowded() const {
        return what.threads > 1 || what.op.starts_with("query_batch_");
    } // several threads run
    bool ok() const { return !result.note.starts_with("unmeasured") && !result.note.starts_with("void"); }
};

// A group is measured together: in every round each variant runs one chunk, in an order that moves on by one from
// round to round. All of a group have the same keys and rate.
class group {
  public:
    group(const std::vector<plugin>& plugins, instances& filters, hash_pools& pools)
        : plugins_(plugins), filters_(filters), pools_(pools) {}

    void add(const variant& what);
    // Measures all; a variant that has taken long stops after five rounds, or three.
    void run(unsigned rounds);

    const std::deque<measured>& results() const { return results_; }
    const std::vector<row>& limit_rows() const { return limit_rows_; }

  private:
    running start(measured& of);
    limit_set* limit_for(std::uint64_t bytes, const variant& what);

    const std::vector<plugin>& plugins_;
    instances& filters_;
    hash_pools& pools_;
    std::deque<measured> results_;
    std::deque<limit_set> limits_;
    std::vector<row> limit_rows_;
};

} // namespace bench
