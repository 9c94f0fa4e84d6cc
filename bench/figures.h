// Goals that no pair of variants expresses (a file written, a latency beside other work): each theme measures its figures
// by itself, and a goal names one: {"figure": "snapshot.save"}.
#pragma once

#include "options.h"
#include "row.h"
#include "statistics.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct figure_set {
    std::map<std::string, interval> values; // low and high 0: no interval
    std::vector<row> rows;
    std::string note; // "unmeasured: ..." when there is nothing
};

using figure_filter = std::function<bool(std::string_view name)>; // which figures are wanted

// What the themes have of the wanted figures. A theme that has none of them costs nothing.
figure_set measure_figures(const options& chosen, const figure_filter& wanted);

// snapshot.cc: save, load, map_ms, save_extra_mib, add_beside_save.
figure_set snapshot_figures(const options& chosen, const figure_filter& wanted);
// growth.cc: growth.fpr, bits_full, bits_worst, layers, query, two_threads.
figure_set growth_figures(const options& chosen, const figure_filter& wanted);
// cell_kinds.cc: counting.bytes, query_1m, query_10m; window.bits, bits_flat, query_1m, query_10m.
figure_set cell_figures(const options& chosen, const figure_filter& wanted);
// lifecycle.cc: hot.query_ns, query_ns_swapping; rebuild.p99.
figure_set lifecycle_figures(const options& chosen, const figure_filter& wanted);
// static_kinds.cc: static.{ribbon,fuse,fuse4,xor}_{bits,sigma,build_ns,query_ns,batch,limit}_<keys>, static.ribbon_two_threads,
// static.spill_peak, static.cascade_bits.
figure_set static_figures(const options& chosen, const figure_filter& wanted);

} // namespace bench
