#include <bouncer/planner.h>

namespace bouncer::planner {

exact_set exact_set_for(std::uint64_t keys, std::uint64_t filter_bytes) {
    exact_set out;
    out.table_bytes = 16 * keys; // 2^48 keys at most
    out.list_bytes = 8 * keys;
    if (out.table_bytes <= exact_set_cache_bytes) {
        out.better = true;
        out.why = "a hash table of " + std::to_string(keys) + " 64-bit hashes takes " +
                  std::to_string(out.table_bytes) + " bytes, which fit into a core's second-level cache (" +
                  std::to_string(exact_set_cache_bytes) + "); it never errs, and can remove and list";
    } else if (out.list_bytes <= filter_bytes + exact_set_saving_bytes) {
        out.better = true;
        out.why = "a sorted list of 64-bit hashes takes " + std::to_string(out.list_bytes) +
                  " bytes, the filter " + std::to_string(filter_bytes) + ": it saves less than " +
                  std::to_string(exact_set_saving_bytes);
    }
    return out;
}

} // namespace bouncer::planner
