// The kernels of one instruction set, compiled against SIMDe, as a table of tested_tables.h. Text to be included in namespace
// bouncer::detail, after SIMDe and with the ISA's lines in IMITATED_LINES: the texts in the order of src/kernels/avx512.cc.
namespace imitated {

#include <bouncer/detail/load_block.inl>
#include <bouncer/detail/pipeline.inl>

#include <bouncer/detail/lines_pair.inl>

#include IMITATED_LINES

#include <bouncer/detail/probes.inl>

#include "kernels/batch.inl"

#include "kernels/cells.inl"

} // namespace imitated

constinit const bit_ops_table imitated_bits = imitated::table_of(all_forms{});
constinit const cell_ops_table imitated_cells = imitated::cell_table();
