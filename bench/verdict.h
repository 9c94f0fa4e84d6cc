// Measures the goals and judges them.
#pragma once

#include "goals.h"
#include "options.h"
#include "plugin.h"
#include "report.h"

#include <nlohmann/json_fwd.hpp>

namespace bench {

struct verdict_result {
    std::vector<row> rows;
    std::vector<std::string> lines; // one per goal, then the counts
    unsigned ok = 0;
    unsigned short_of = 0;
    unsigned unmeasured = 0;
    bool fpr_wrong = false;
};

// Prints each line as soon as it is known; fills `json` with {goals, ok, short, unmeasured}.
verdict_result judge(const std::vector<plugin>& plugins, const goal_list& goals, const options& chosen,
                     nlohmann::json& json);

} // namespace bench
