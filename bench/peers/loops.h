// The loops around a peer's single calls, written once. Derived has `bool has(hash) const` and `void put(hash)`, both
// inlined here, so that a peer pays one virtual call per chunk.
#pragma once

#include "../subject.h"

namespace bench {

template <class Derived>
class looped : public subject {
  public:
    std::size_t query(std::span<const std::uint64_t> hashes) const override {
        std::size_t found = 0;
        for (const std::uint64_t& hash : hashes) found += self().has(hash);
        return found;
    }

    // The answer is multiplied by a zero that the compiler does not know: the next hash waits for it, and present
    // keys stay present. A peer that leaves at the first zero bit has its answer guessed by the branch predictor,
    // and then the queries overlap all the same.
    std::size_t query_dependent(std::span<const std::uint64_t> hashes) const override {
        std::uint64_t zero = 0;
        asm volatile("" : "+r"(zero));
        std::uint64_t last = 0;
        std::size_t found = 0;
        for (const std::uint64_t hash : hashes) {
            last = self().has(hash + last * zero);
            found += last;
        }
        return found;
    }

    void add(std::span<const std::uint64_t> hashes) override {
        for (const std::uint64_t& hash : hashes) self().put(hash);
    }

  private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
    Derived& self() { return static_cast<Derived&>(*this); }
};

} // namespace bench
