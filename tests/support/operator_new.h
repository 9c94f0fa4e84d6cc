// operator new and delete of a whole test program, for tests that count, bound or refuse allocations. One file of the
// program includes it and defines may_allocate.
//
// All forms: AddressSanitizer takes a new of its own and a delete of ours for a mismatch. Not inlined: g++ 12 would see
// free() beside a new of its own, and warn.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace bouncer::test {

// [any-thread] Hears of every allocation; false: there is no memory for it. Must not allocate.
bool may_allocate(std::size_t bytes) noexcept;

} // namespace bouncer::test

[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return bouncer::test::may_allocate(bytes) ? std::malloc(bytes != 0 ? bytes : 1) : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (void* const block = operator new(bytes, std::nothrow)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& none) noexcept {
    return operator new(bytes, none);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
    return operator new(bytes);
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t line,
                                     const std::nothrow_t&) noexcept {
    const auto to = static_cast<std::size_t>(line);
    return bouncer::test::may_allocate(bytes) ? std::aligned_alloc(to, (bytes / to + 1) * to) : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t line) {
    if (void* const block = operator new(bytes, line, std::nothrow)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t line,
                                       const std::nothrow_t& none) noexcept {
    return operator new(bytes, line, none);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t line) {
    return operator new(bytes, line);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::align_val_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    std::free(block);
}
