// Chunks of records through several threads: read one by one, worked on at the same time, delivered in order.
#pragma once

#include "keys.h"
#include "records.h"
#include "signals.h"
#include "tool_error.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace bouncer::tool {

// [any-thread] One per core; fewer where the input is small.
inline unsigned pipeline_threads(const record_reader& reader) {
    return reader.small() ? 1 : std::max(1u, std::thread::hardware_concurrency());
}

// Thread safety: run() is called once, and starts its own threads.
//   1. reader_mutex_ is held while a chunk is read and gets its number: chunks are numbered in the order of the input.
//   2. deliver() is called by one thread at a time, for chunk n after chunk n - 1. turn_ is the number of the next.
//   3. An error belongs to its place: every record before it is delivered, none after it.
template <class Job>
class pipeline {
  public:
    // Job: a worker's own state, made by make(). job.work(chunk) from any thread, job.deliver(chunk, first record) in order.
    pipeline(record_reader& reader, framing how, std::function<Job()> make)
        : reader_(reader), how_(how), make_(std::move(make)) {}

    // Returns at the end of the input, or when the command was interrupted. Throws what a job or the reader threw.
    void run(unsigned threads) {
        resume_reading();
        std::vector<std::jthread> workers;
        {
            const signals_for_main_only held; // this thread only waits, where a signal finds it at once
            for (unsigned i = 0; threads > 1 && i < threads; ++i) {
                try {
                    workers.emplace_back([this] { loop(); });
                } catch (const std::system_error&) {
                    break; // fewer threads do as well
                }
            }
        }
        if (workers.empty()) loop();
        workers.clear();
        if (failed_) std::rethrow_exception(failed_);
    }

    std::uint64_t records() const noexcept { return total_; }

  private:
    // Nothing leaves a thread: what went wrong outside of its turn ends the run at once.
    void loop() noexcept {
        try {
            work_and_deliver();
        } catch (...) {
            {
                const std::lock_guard guard(turn_mutex_);
                if (!failed_) failed_ = std::current_exception();
            }
            turned_.notify_all();
            stop_reading();
        }
    }

    void work_and_deliver() {
        chunk now(how_);
        std::exception_ptr error;
        std::optional<Job> job;
        for (;;) {
            std::uint64_t number;
            {
                std::lock_guard guard(reader_mutex_);
                if (ended_ || reading_stopped()) return;
                try {
                    if (!job) job.emplace(make_());
                    if (!reader_.next(now)) ended_ = true;
                } catch (...) {
                    error = std::current_exception();
                    ended_ = true;
                }
                if (ended_ && !error) return;
                number = next_++;
            }
            if (!error) {
                try {
                    now.split(how_);
                } catch (...) { // no memory
                    error = std::current_exception();
                }
            }
            // A bad record ends the run, but not the records before it: the chunk is cut there, and worked on again.
            bool deliverable = !error || is_bad_record(error);
            while (deliverable) {
                try {
                    job->work(now);
                    break;
                } catch (const bad_record& bad) {
                    error = std::current_exception();
                    now.truncate(bad.index);
                } catch (...) {
                    error = std::current_exception();
                    deliverable = false;
                }
            }
            std::unique_lock guard(turn_mutex_);
            turned_.wait(guard, [&] { return turn_ == number || failed_; });
            if (failed_) return;
            guard.unlock();
            if (now.input != input_) {
                input_ = now.input;
                records_ = 0;
            }
            const std::uint64_t first = records_;
            if (deliverable && now.records() > 0) {
                try {
                    job->deliver(now, records_);
                    records_ += now.records();
                    total_ += now.records();
                } catch (...) {
                    error = std::current_exception();
                }
            }
            if (error) error = placed(error, now, first);
            guard.lock();
            if (error) failed_ = error;
            ++turn_;
            guard.unlock();
            turned_.notify_all();
            if (error) {
                stop_reading(); // another thread may wait for bytes that never come, and it has the lock
                return;
            }
            now.shrink();
        }
    }

    static bool is_bad_record(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const bad_record&) {
            return true;
        } catch (...) {
            return false;
        }
    }

    // "FILE:LINE: why" for a bad record.
    std::exception_ptr placed(const std::exception_ptr& error, const chunk& where, std::uint64_t before) {
        try {
            std::rethrow_exception(error);
        } catch (const bad_record& bad) {
            return std::make_exception_ptr(tool_error(reader_.name(where.input) + ":" +
                                                      std::to_string(before + bad.index + 1) + ": " +
                                                      bad.what()));
        } catch (...) {
            return std::current_exception();
        }
    }

    record_reader& reader_;
    framing how_;
    std::function<Job()> make_;

    std::mutex reader_mutex_;
    bool ended_ = false;
    std::uint64_t next_ = 0;

    std::mutex turn_mutex_;
    std::condition_variable turned_;
    std::uint64_t turn_ = 0;
    std::exception_ptr failed_;
    // Of who delivers.
    std::size_t input_ = 0;
    std::uint64_t records_ = 0; // of this input
    std::uint64_t total_ = 0;
};

} // namespace bouncer::tool
