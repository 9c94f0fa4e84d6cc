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

} // namespace bench
