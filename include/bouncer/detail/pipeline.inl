// The one batch loop: begin(i + ahead), which prefetches, while step(i) works on what came in. It is text to be included,
// not a function to be called, because a function compiled for one instruction set cannot be inlined into a loop compiled for
// another: pipeline.h includes it for the baseline, every ISA file once more inside its target region.
template <class Begin, class Step>
[[gnu::always_inline]] inline void pipeline(std::size_t count, std::size_t ahead, Begin begin,
                                            Step step) noexcept {
    const std::size_t head = count < ahead ? count : ahead;
    for (std::size_t i = 0; i < head; ++i) begin(i);
    std::size_t i = 0;
    for (; i + ahead < count; ++i) {
        step(i); // first, so that what it leaves behind may be overwritten for i + ahead
        begin(i + ahead);
    }
    for (; i < count; ++i) step(i);
}
