#include "figures.h"

namespace bench {

figure_set measure_figures(const options& chosen, const figure_filter& wanted) {
    figure_set out;
    for (const auto theme :
         {snapshot_figures, growth_figures, cell_figures, lifecycle_figures, static_figures}) {
        figure_set some = theme(chosen, wanted);
        out.values.merge(some.values);
        out.rows.insert(out.rows.end(), some.rows.begin(), some.rows.end());
        if (!some.note.empty()) out.note = some.note;
    }
    return out;
}

} // namespace bench
