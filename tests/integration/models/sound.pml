// Two processes add one to a number, each in one step. The fixture of tests/integration/models.sh: it makes broken copies.
//
// bounds: -DADDS=3
// bounds full: -DADDS=5
//
// mutant lost_update: an add is a load and a store
// mutant stuck [deadlock]: the second process waits for what never comes
byte number, done;

active [2] proctype adder() {
    byte count, old;
    do
    :: count < ADDS ->
#ifdef MUTANT_lost_update
        old = number;
        number = old + 1;
#else
        number++;
#endif
        count++
    :: else -> break
    od;
#ifdef MUTANT_stuck
    _pid == 0;
#endif
    done++
}

active proctype judge() {
    done == 2;
    assert(number == 2 * ADDS)
}
