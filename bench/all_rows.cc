#include "all_rows.h"

#include "operations.h"

#include <algorithm>
#include <string_view>

namespace bench {
namespace {

bool wanted(const options& chosen, const variant& what) {
    return !chosen.rows || std::regex_search(name_of(what), *chosen.rows) ||
           std::regex_search(label_of(what), *chosen.rows);
}

// The peers that a full report has, built in or not.
constexpr const char* expected_peers[] = {"tutorial", "dynamic_bloom", "libbloom", "boost_fmb64",
                                          "boost_fmb32"};

struct named_type {
    std::string name;
    const subject_type* type; // null: not in this build
};

std::vector<named_type> types_of(const plugin& from) {
    std::vector<named_type> all;
    for (std::size_t i = 0; i < from.subjects->count; ++i)
        all.push_back({from.subjects->types[i].name, &from.subjects->types[i]});
    for (const char* const peer : expected_peers)
        if (from.find(peer) == nullptr) all.push_back({peer, nullptr});
    return all;
}

// Both page sizes only where a row is compared on both: the default kind and Boost, and only when a filter has at least
// one huge page.
std::vector<page_size> pages_of(const std::string& name, std::uint64_t keys) {
    const bool both = name == "atomic_blocked_bloom" || name.starts_with("boost_");
    if (both && keys * 10 / 8 >= (std::uint64_t{2} << 20)) return {page_size::small, page_size::huge};
    return {default_pages(name)};
}

} // namespace

std::vector<variant> all_rows(const std::vector<plugin>& plugins, const options& chosen, std::uint64_t keys) {
    std::vector<variant> rows;
    const auto add = [&](variant what) {
        if (wanted(chosen, what)) rows.push_back(std::move(what));
    };
    for (const plugin& from : plugins) {
        const bool native = from.build == "native";
        for (const auto& [name, type] : types_of(from)) {
            for (const page_size pages : pages_of(name, keys)) {
                for (const operation_type& op : all_operations()) {
                    const std::string_view op_name = op.name;
                    // The baseline build is there for what is compiled into a consumer.
                    if (!native && op_name != "query" && op_name != "query_batch" && op_name != "add")
                        continue;
                    if (type != nullptr && type->can != 0 && (type->can & op.needs) != op.needs) continue;
                    variant what{.name = name,
                                 .op = op.name,
                                 .build = from.build,
                                 .pages = pages,
                                 .keys = keys,
                                 .fpr = chosen.fpr};
                    const bool all_hits = native && (op_name == "query" || op_name == "query_batch");
                    for (const double hits : all_hits ? std::vector{0.0, 0.5, 1.0} : std::vector{0.5}) {
                        what.hits = hits;
                        what.threads = 1;
                        add(what);
                    }
                    if (!native || op_name.starts_with("latency") || op_name == "query_dependent" ||
                        op_name.starts_with("query_batch_"))
                        continue;
                    if (op.writes && (type == nullptr || !(type->can & can_share))) continue;
                    what.hits = 0.5;
                    for (what.threads = 2; what.threads <= chosen.threads; ++what.threads) add(what);
                }
            }
        }
        for (std::size_t i = 0; native && i < from.keyed->count; ++i)
            for (const char* const op : {"keyed_batch", "ready_batch"})
                add({.name = from.keyed->types[i].name, .op = op, .keys = keys, .fpr = chosen.fpr});
    }
    return rows;
}

} // namespace bench
