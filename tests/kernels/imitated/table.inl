// The kernels of one instruction set, compiled against SIMDe, as a table. Text to be included in namespace
// bouncer::detail, after SIMDe and the ISA's lines in namespace imitated.
namespace imitated {

#include "kernels/block_batch.inl"
#include "kernels/cell_batch.inl"
#include "kernels/register_batch.inl"

constinit const kernel_table table{
#include "kernels/entries.inl"
};

} // namespace imitated
