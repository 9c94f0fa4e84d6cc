// The kernels of every machine: the specification, and batches over it.
#include "kernels/tables.h"

#include <bouncer/words.h>

#include <array>
#include <bit>
#include <cstring>

namespace bouncer::detail {
namespace by_specification {
namespace {

#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/probes.inl>

#include "kernels/batch.inl"
#include "kernels/cells.inl"

} // namespace
} // namespace by_specification

constinit const bit_ops_table scalar_ops = by_specification::table_of(all_forms{});
constinit const cell_ops_table scalar_cell_ops = by_specification::cell_table();

} // namespace bouncer::detail
