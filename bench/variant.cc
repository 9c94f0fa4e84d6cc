#include "variant.h"

namespace bench {

const char* text_of(page_size pages) {
    return pages == page_size::huge ? "2M" : "4K";
}

std::string name_of(const variant& what) {
    std::string name = what.name + "." + what.op;
    if (what.hits == 0) name += ".hits0";
    if (what.hits == 1) name += ".hits100";
    if (what.threads > 1) name += ".t" + std::to_string(what.threads);
    if (what.prefer == preference::adds) name += ".adds";
    if (what.prefer == preference::space) name += ".space";
    return name;
}

std::string label_of(const variant& what) {
    return name_of(what) + " " + what.build + " " + text_of(what.pages);
}

std::string short_number(std::uint64_t number) {
    if (number >= 1'000'000'000 && number % 1'000'000'000 == 0)
        return std::to_string(number / 1'000'000'000) + "G";
    if (number >= 1'000'000 && number % 1'000'000 == 0) return std::to_string(number / 1'000'000) + "M";
    if (number >= 1'000 && number % 1'000 == 0) return std::to_string(number / 1'000) + "K";
    return std::to_string(number);
}

page_size default_pages(const std::string& name) {
    for (const char* ours : {"atomic_", "plain_", "locked_", "keyed_"})
        if (name.starts_with(ours)) return page_size::huge;
    return page_size::small;
}

} // namespace bench
