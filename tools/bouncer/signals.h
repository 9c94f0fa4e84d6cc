// SIGINT and SIGTERM, for subcommands that print lines or must end in order: they stop at the end of a block of lines, so
// that no half line is written and what was written is committed. A second one ends them at once. The others die of the
// first: their files appear as a whole or not at all.
#pragma once

#include <csignal>

namespace bouncer::tool {

// [exclusive] At the start, before anything is opened. Standard input, output and error that are closed are made such that
// their use is an error, and no file of ours takes their place.
void prepare_descriptors();
// [exclusive] Before the first thread. From here on who waits or works for long must look at interrupted().
void catch_interrupts();
// [any-thread] Whether one has come; and the exit code that tells it, 0 if none has.
bool interrupted() noexcept;
int interrupted_code() noexcept;
// Around the start of threads: what they block they block for life, so that SIGINT and SIGTERM come to the main thread alone.
// Any other might wait for a mutex then. By itself the handler runs there as well; under the thread checker it waits until
// the mutex is there, and who holds that may be waiting for the signal: so a command hung, when the main thread was just
// starting another and blocked all signals.
class signals_for_main_only {
  public:
    signals_for_main_only() noexcept;
    ~signals_for_main_only();
    signals_for_main_only(const signals_for_main_only&) = delete;
    signals_for_main_only& operator=(const signals_for_main_only&) = delete;

  private:
    sigset_t before_;
};

// [any-thread] Ends the waiting of all threads for bytes of a pipe or a terminal, now and until resume_reading(): what an
// error in one of them needs.
void stop_reading() noexcept;
void resume_reading() noexcept;
// [any-thread] Whether one of the two has happened.
bool reading_stopped() noexcept;
// [any-thread] Readable when one has: for poll(), in whichever thread.
int interrupt_descriptor() noexcept;
// [any-thread] Throws quiet_exit (130; 143 for SIGTERM) if one has come.
void stop_if_interrupted();

} // namespace bouncer::tool
