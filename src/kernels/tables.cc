#include "kernels/tables.h"

namespace bouncer::detail {

namespace {

struct tables {
    const bit_ops_table* bits = nullptr;
    const cell_ops_table* cells = nullptr;
};

tables tables_of(isa which) noexcept {
    if (!processor_has(which)) return {};
    switch (which) {
    case isa::scalar: return {&scalar_ops, &scalar_cell_ops};
#if defined(__x86_64__)
    case isa::avx2: return {&avx2_ops, &avx2_cell_ops};
    case isa::avx512: return {&avx512_ops, &avx512_cell_ops};
#else
    default: break;
#endif
    }
    return {};
}

const tables& active_tables() noexcept {
    static const tables active = tables_of(active_isa());
    return active;
}

} // namespace

const bit_ops_table* bit_ops_of(isa which) noexcept {
    return tables_of(which).bits;
}
const cell_ops_table* cell_ops_of(isa which) noexcept {
    return tables_of(which).cells;
}
const bit_ops_table& active_bit_ops() noexcept {
    return *active_tables().bits;
}
const cell_ops_table& active_cell_ops() noexcept {
    return *active_tables().cells;
}

} // namespace bouncer::detail
