/* The smallest user of the C interface. */
#include <bouncer/bouncer.h>

int main(void) {
    bouncer_options options = BOUNCER_OPTIONS_INIT;
    bouncer_filter* seen = NULL;
    uint8_t there = 0;
    options.keys = 1000;
    options.false_positive_rate = 0.01;
    if (bouncer_create("blocked_bloom", &options, &seen) != BOUNCER_OK) return 2;
    if (bouncer_add(seen, "alice", 5) != BOUNCER_OK) return 2;
    if (bouncer_contains(seen, "alice", 5, &there) != BOUNCER_OK) return 2;
    bouncer_destroy(seen);
    return there == 1 ? 0 : 1;
}
