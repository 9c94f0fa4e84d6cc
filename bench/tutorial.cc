#include "tutorial.h"

#include "tutorial_support.h"

namespace bench {

std::vector<row> tutorial_rows(const tutorial_options& options) {
    tutorial::sheet rows(options);
    tutorial::string_rows(rows);
    tutorial::hash_rows(rows);
    tutorial::store_rows(rows);
    tutorial::layout_rows(rows);
    tutorial::lock_rows(rows);
    tutorial::padding_rows(rows);
    tutorial::page_rows(rows);
    return rows.take();
}

} // namespace bench
