// The tables of hashes that people read have exactly the hashes of the list.
#include "support/places.h"

#include <bouncer/all_hashers.h>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace bouncer::test {
namespace {

std::string text_of(const std::string& name) {
    std::ifstream in(source_folder() + "/" + name);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
}

// What the groups of every match caught, joined by ": ".
std::vector<std::string> caught(const std::string& text, const std::string& expression) {
    const std::regex pattern(expression);
    std::vector<std::string> out;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), pattern); at != std::sregex_iterator();
         ++at) {
        std::string each = (*at)[1];
        for (std::size_t i = 2; i < at->size(); ++i) each += ": " + (*at)[i].str();
        out.push_back(each);
    }
    return out;
}

template <class Write>
std::vector<std::string> of_every_hash(Write write) {
    std::vector<std::string> out;
    for (const hash_info& each : all_hashes) out.push_back(write(each));
    return out;
}

TEST(documented_hashes, hashing_has_a_row_for_each) {
    const auto rows = of_every_hash([](const hash_info& each) {
        return std::string(each.name) + ": " +
               (each.takes_key        ? "key"
                : each.seed_bits != 0 ? "seed"
                                      : "") +
               ": " + std::to_string(each.id);
    });
    EXPECT_EQ(caught(text_of("docs/hashing.md"), "\\n\\| `([a-z0-9]+)\\{([a-z]*)\\}` \\| ([0-9]+) \\|"),
              rows);
}

TEST(documented_hashes, format_has_a_row_for_each) {
    const std::string page = text_of("docs/format.md");
    const std::size_t first = page.find("\n### Hashes\n");
    const std::string section = page.substr(first, page.find("\n## ", first) - first);
    auto rows = of_every_hash([](const hash_info& each) {
        return std::to_string(each.id) + ": " +
               (each.takes_key        ? "fingerprint of the key"
                : each.seed_bits == 0 ? "0"
                : each.seed_bits < 64 ? "seed, " + std::to_string(each.seed_bits) + " bits"
                                      : "seed");
    });
    rows.insert(rows.begin(), "0: 0");
    EXPECT_EQ(caught(section, "\\n\\| ([0-9]+) \\| [^|]+ \\| ([^|]+) \\|"), rows);
}

TEST(documented_hashes, the_c_header_names_each) {
    std::string names;
    for (const hash_info& each : all_hashes) names.append(each.name).append(", ");
    EXPECT_NE(text_of("include/bouncer/bouncer.h").find("/* " + names + "or prehashed"), std::string::npos)
        << names;
}

} // namespace
} // namespace bouncer::test
