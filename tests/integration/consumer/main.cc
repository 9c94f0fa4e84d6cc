// The smallest user of the library; install.sh builds it outside the tree in every way we support.
#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>

int main() {
    auto seen =
        bouncer::keyed<bouncer::atomic_blocked_bloom>::create({.keys = 1000, .false_positive_rate = 0.01});
    if (!seen) return 2;
    seen->add("alice");
    return seen->may_contain("alice") ? 0 : 1;
}
