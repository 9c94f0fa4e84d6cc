// The page's style and its few lines of script: light and dark by the reader's choice, no font and no file from elsewhere.
#pragma once

#include <string_view>

namespace bouncer::tool {

extern const std::string_view plan_style;
extern const std::string_view plan_script;

} // namespace bouncer::tool
