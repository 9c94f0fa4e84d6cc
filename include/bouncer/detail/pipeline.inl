// The one batch loop: prefetch item i + depth, then work on item i. It is text to be included, not a function to be
// called, because a function compiled for one instruction set cannot be inlined into a loop compiled for another:
// pipeline.h includes it for the baseline, every ISA file once more inside its target region.
//
// A depth of 16 keeps more lines in flight than a core has miss buffers (10 to 16 on current x86 and ARM).
inline constexpr std::size_t pipeline_depth = 16;

template <class Prefetch, class Step>
inline void pipeline(std::size_t count, Prefetch prefetch, Step step) noexcept {
    const std::size_t head = count < pipeline_depth ? count : pipeline_depth;
    for (std::size_t i = 0; i < head; ++i) prefetch(i);
    std::size_t i = 0;
    for (; i + pipeline_depth < count; ++i) {
        prefetch(i + pipeline_depth);
        step(i);
    }
    for (; i < count; ++i) step(i);
}
