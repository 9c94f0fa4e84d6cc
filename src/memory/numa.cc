#include "memory/numa.h"

#include <string>

#include "base/descriptor.h"

#ifdef BOUNCER_NUMA
#include <dlfcn.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <optional>
#include <vector>
#endif

namespace bouncer::detail {

#ifdef BOUNCER_NUMA
namespace {

// libnuma's `struct bitmask`, stable since its version 2. Declared here so that its header is not needed.
struct node_mask {
    unsigned long size_bits;
    unsigned long* words;
};

constexpr std::size_t bits_per_word = sizeof(unsigned long) * CHAR_BIT;

// Only mbind and the list of allowed nodes: numa_interleave_memory and its kin print to stderr when they
// fail.
struct numa_library {
    using mbind_function = long (*)(void*, unsigned long, int, const unsigned long*, unsigned long, unsigned);

    mbind_function mbind;
    const node_mask* allowed; // nodes this process may allocate on
};

std::optional<numa_library> open_library() noexcept {
    void* const handle = ::dlopen("libnuma.so.1", RTLD_NOW | RTLD_LOCAL); // kept for the life of the process
    if (handle == nullptr) return std::nullopt;
    const auto available = reinterpret_cast<int (*)()>(::dlsym(handle, "numa_available"));
    const auto mbind = reinterpret_cast<numa_library::mbind_function>(::dlsym(handle, "mbind"));
    const auto allowed = static_cast<node_mask* const*>(::dlsym(handle, "numa_all_nodes_ptr"));
    if (available == nullptr || mbind == nullptr || allowed == nullptr) return std::nullopt;
    if (available() < 0 || *allowed == nullptr) return std::nullopt; // the kernel has no NUMA calls
    return numa_library{mbind, *allowed};
}

const std::optional<numa_library>& library() noexcept {
    static const std::optional<numa_library> loaded = open_library();
    return loaded;
}

bool allows(const node_mask& mask, int node) noexcept {
    const auto bit = static_cast<std::size_t>(node);
    return bit < mask.size_bits && ((mask.words[bit / bits_per_word] >> (bit % bits_per_word)) & 1) != 0;
}

} // namespace

result<void> check_numa(numa_policy policy, int node) {
    if (policy == numa_policy::none) return {};
    if (!library()) {
        return failure{error_code::unsupported,
                       "a NUMA policy needs libnuma.so.1 and a kernel with NUMA calls; one is missing"};
    }
    if (policy == numa_policy::bind && (node < 0 || !allows(*library()->allowed, node))) {
        return failure{error_code::invalid_argument, "NUMA node " + std::to_string(node) +
                                                         " does not exist or is not allowed to this process"};
    }
    return {};
}

result<void> apply_numa(void* data, std::uint64_t bytes, numa_policy policy, int node) {
    if (policy == numa_policy::none) return {};
    constexpr int mode_bind = 2; // MPOL_BIND and MPOL_INTERLEAVE of the kernel's interface
    constexpr int mode_interleave = 3;
    const node_mask& allowed = *library()->allowed;
    std::vector<unsigned long> one;
    const unsigned long* nodes = allowed.words;
    if (policy == numa_policy::bind) {
        const auto bit = static_cast<std::size_t>(node);
        one.resize((allowed.size_bits + bits_per_word - 1) / bits_per_word);
        one[bit / bits_per_word] = 1UL << (bit % bits_per_word);
        nodes = one.data();
    }
    // The kernel reads one bit less than it is told.
    if (library()->mbind(data, static_cast<unsigned long>(bytes),
                         policy == numa_policy::bind ? mode_bind : mode_interleave, nodes,
                         allowed.size_bits + 1, 0) != 0) {
        return failure{error_code::unsupported, "the kernel refused the NUMA policy: " + error_text(errno)};
    }
    return {};
}

#else

result<void> check_numa(numa_policy policy, int) {
    if (policy == numa_policy::none) return {};
    return failure{error_code::unsupported,
                   "a NUMA policy was asked for, but this library was built without NUMA"};
}

result<void> apply_numa(void*, std::uint64_t, numa_policy policy, int node) {
    return check_numa(policy, node);
}

#endif

} // namespace bouncer::detail
