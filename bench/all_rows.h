// Every row of a run without --verdict.
#pragma once

#include "options.h"
#include "plugin.h"
#include "variant.h"

#include <vector>

namespace bench {

// In the order in which they are printed; filtered by --rows. Rows of a subject that is not in the build are among
// them: they will be unmeasured.
std::vector<variant> all_rows(const std::vector<plugin>& plugins, const options& chosen, std::uint64_t keys);

} // namespace bench
