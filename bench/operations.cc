#include "operations.h"

#include "chunks.h"

#include <algorithm>

namespace bench {

std::vector<operation_type> all_operations() {
    std::vector<operation_type> all;
    for (const auto some : {query_operations(), add_operations(), shared_operations(), latency_operations()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

const operation_type* find_operation(const std::string& name) {
    static const auto all = all_operations();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const operation_type& op) { return op.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::size_t query_in_batches(const subject& filter, std::span<const std::uint64_t> hashes) {
    alignas(64) bool answers[batch_size];
    std::size_t found = 0;
    for (std::size_t first = 0; first < hashes.size(); first += batch_size) {
        const std::size_t count = std::min(batch_size, hashes.size() - first);
        found += filter.query_batch(hashes.subspan(first, count), std::span(answers, count));
    }
    return found;
}

void add_in_batches(subject& filter, std::span<const std::uint64_t> hashes) {
    for (std::size_t first = 0; first < hashes.size(); first += batch_size)
        filter.add_batch(hashes.subspan(first, std::min(batch_size, hashes.size() - first)));
}

} // namespace bench
