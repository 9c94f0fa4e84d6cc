// The one batch loop: work on item i, then prefetch item i + Depth. It is text to be included, not a function to be
// called, because a function compiled for one instruction set cannot be inlined into a loop compiled for another:
// pipeline.h includes it for the baseline, every ISA file once more inside its target region.
//
// The depth is the caller's: enough to have more lines in flight than a core has miss buffers, and more for
// memory that is far away.
template <std::size_t Depth, class Prefetch, class Step>
[[gnu::always_inline]] inline void pipeline(std::size_t count, Prefetch prefetch, Step step) noexcept {
    const std::size_t head = count < Depth ? count : Depth;
    for (std::size_t i = 0; i < head; ++i) prefetch(i);
    std::size_t i = 0;
    for (; i + Depth < count; ++i) {
        step(i); // first, so that what it leaves behind may be overwritten for i + Depth
        prefetch(i + Depth);
    }
    for (; i < count; ++i) step(i);
}
