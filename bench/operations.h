// What can be done to a subject, one name per operation. Each rows_*.cc has some.
#pragma once

#include "hashes.h"
#include "instance.h"
#include "row.h"
#include "variant.h"

#include <functional>
#include <span>

namespace bench {

// A variant on its way through the rounds.
struct running {
    std::function<double(unsigned round)> round; // one chunk: warmed up, then timed; ns per operation
    std::function<void(row&)> finish = nullptr;  // after the last round, for what ns do not say
};

struct trial {
    const variant& what;
    subject& filter; // full of the present keys, before and after
    const subject_type& type;
    hash_pools& pools;
};

struct operation_type {
    const char* name;
    unsigned needs; // of subject_type::can
    bool asks;      // queries: the hit ratio matters
    bool writes;    // adds: on several threads it needs can_share
    running (*start)(const trial&);
};

std::span<const operation_type> query_operations();   // query, query_batch, query_dependent
std::span<const operation_type> add_operations();     // add, add_batch, add_again, add_again_batch, add_all
std::span<const operation_type> shared_operations();  // mix, mix_batch, query_batch_hot, query_batch_busy
std::span<const operation_type> latency_operations(); // latency_query, latency_add

std::vector<operation_type> all_operations();
const operation_type* find_operation(const std::string& name);

// keyed_batch (strings) and ready_batch (their hashes) of a keyed_* subject.
running start_keyed(const keyed_type& type, const variant& what, row& out);

// Calls a batch at a time, with answers nobody looks at but the subject's own count.
std::size_t query_in_batches(const subject& filter, std::span<const std::uint64_t> hashes);
void add_in_batches(subject& filter, std::span<const std::uint64_t> hashes);

} // namespace bench
