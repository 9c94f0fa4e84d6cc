// A build that spills to a temporary file: what goes wrong is said, nothing stays behind, and the memory keeps to its cap.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "support/failures.h"
#include "support/random_hashes.h"
#include "support/statistics.h"

#include <bouncer/detail/sorted_hashes.h>

#include "filters/spill_file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bouncer::test {
namespace {

using detail::seed_word_of;
using detail::seeded;
using detail::sorted_hashes;
using detail::spill_file;
using hashes = std::vector<std::uint64_t>;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_real = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool memory_is_real = false; // the checkers need much of their own
#else
constexpr bool memory_is_real = true;
#endif
#else
constexpr bool memory_is_real = true;
#endif

std::size_t open_files() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

hash_source random_source(std::uint64_t count, std::uint64_t stream) {
    return [=, at = std::uint64_t{0}](std::span<std::uint64_t> into) mutable -> result<std::size_t> {
        const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), count - at));
        for (std::size_t i = 0; i < now; ++i) into[i] = random_hash(stream, at++);
        return now;
    };
}

std::string text_of(const result<sorted_hashes>& got) {
    return got ? "" : std::string(name_of(got.error().code)) + ": " + got.error().message;
}

class spill : public ::testing::Test {
  protected:
    void TearDown() override {
        EXPECT_EQ(folder_.entries(), 0u) << "something was left behind";
        EXPECT_EQ(open_files(), open_before_) << "files were not closed";
    }
    build_options options(std::uint64_t cap = mebi, unsigned threads = 2) const {
        build_options out;
        out.memory_cap_bytes = cap;
        out.threads = threads;
        out.temporary_folder = folder_.path();
        return out;
    }
    // What a gather in a process of its own says, after `restrict`.
    template <class Restrict>
    std::string said_under(Restrict restrict) {
        return in_child([&]() -> std::string {
            if (!restrict()) return "cannot restrict";
            return text_of(sorted_hashes::gather(given_, options()));
        });
    }
    template <class Restrict>
    void expect_refusal(Restrict restrict, const std::string& what, const std::string& why) {
        const std::string said = said_under(restrict);
        if (said == "cannot restrict") GTEST_SKIP() << said;
        EXPECT_EQ(said, "io: cannot " + what + " a temporary file in " + folder_.path() + ": " + why);
        EXPECT_EQ(folder_.entries(), 0u);
    }

    scratch_folder folder_;
    std::size_t open_before_ = open_files();
    hashes given_ = random_hashes(300'000, 1);
};

// ---- the file --------------------------------------------------------------------------------------------------------

TEST_F(spill, a_file_gives_back_what_was_written) {
    const auto file = spill_file::create(folder_.path()).value();
    EXPECT_EQ(folder_.entries(), 0u) << "it has a name";
    file.write(0, given_).value();
    const hashes more = random_hashes(1'000, 2);
    file.write(500, more).value();
    hashes read(1'200);
    file.read(400, read).value();
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + 100, given_.begin() + 400));
    EXPECT_TRUE(std::equal(more.begin(), more.end(), read.begin() + 100));
    EXPECT_TRUE(std::equal(read.begin() + 1'100, read.end(), given_.begin() + 1'500));
}

TEST_F(spill, a_file_that_ends_too_early) {
    const auto file = spill_file::create(folder_.path()).value();
    file.write(0, std::span(given_).first(10)).value();
    hashes read(11);
    EXPECT_TRUE(fails_with(file.read(0, read), error_code::io, folder_.path(), "ends at byte 80"));
    EXPECT_TRUE(fails_with(file.read(100, read), error_code::io, folder_.path(), "ends at byte 800"));
    EXPECT_TRUE(file.read(0, std::span(read).first(10)).has_value());
}

TEST_F(spill, a_file_moves) {
    auto file = spill_file::create(folder_.path()).value();
    file.write(0, given_).value();
    auto other = spill_file::create(folder_.path()).value();
    other = std::move(file);
    hashes read(given_.size());
    other.read(0, read).value();
    EXPECT_TRUE(read == given_);
}

TEST_F(spill, the_folder_is_the_one_asked_for_or_of_the_environment) {
    const auto tried_in = [&](const std::string& asked, const char* environment) {
        return in_child([&]() -> std::string {
            if (environment == nullptr)
                ::unsetenv("TMPDIR");
            else
                ::setenv("TMPDIR", environment, 1);
            const auto made = spill_file::create(asked);
            return made ? "" : made.error().message;
        });
    };
    const std::string missing = folder_ / "missing";
    EXPECT_EQ(tried_in("", nullptr), "");
    EXPECT_EQ(tried_in("", ""), "");
    EXPECT_EQ(tried_in("", folder_.path().c_str()), "");
    EXPECT_EQ(tried_in(folder_.path(), missing.c_str()), "");
    EXPECT_NE(tried_in("", missing.c_str()).find(missing + ": No such file or directory"), std::string::npos);
}

// ---- what the system refuses -----------------------------------------------------------------------------------------

TEST_F(spill, into_a_missing_folder) {
    auto wanted = options();
    wanted.temporary_folder = folder_ / "missing";
    const auto from_span = sorted_hashes::gather(given_, wanted);
    EXPECT_TRUE(fails_with(from_span, error_code::io, wanted.temporary_folder, "No such file or directory"));
    const auto from_source = sorted_hashes::gather(random_source(300'000, 1), wanted);
    EXPECT_TRUE(
        fails_with(from_source, error_code::io, wanted.temporary_folder, "No such file or directory"));
    // What needs no file asks for none.
    EXPECT_TRUE(sorted_hashes::gather(std::span(given_).first(1'000), wanted).has_value());
}

TEST_F(spill, into_a_file) {
    auto wanted = options();
    wanted.temporary_folder = "/proc/self/status";
    EXPECT_TRUE(fails_with(sorted_hashes::gather(given_, wanted), error_code::io, "Not a directory"));
}

TEST_F(spill, into_a_folder_that_may_not_be_written) {
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
    expect_refusal([] { return ::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0; }, "create",
                   "Permission denied");
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

bool limit_file_size(rlim_t bytes) {
    const rlimit limit{bytes, bytes};
    return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

TEST_F(spill, onto_a_disk_that_is_full) {
    // Whatever the process does with the signal that the system sends besides: by default it ends it.
    for (auto* const handler : {SIG_DFL, SIG_IGN}) {
        const auto limited_to = [handler](rlim_t bytes) {
            return [=] { return std::signal(SIGXFSZ, handler) != SIG_ERR && limit_file_size(bytes); };
        };
        for (const rlim_t bytes : {0u, 4'000u, 1'000'000u, 2'000'000u})
            expect_refusal(limited_to(bytes), "write", "File too large");
        EXPECT_EQ(said_under(limited_to(2'400'000)), "") << "8 bytes per hash, and no more";
    }
    expect_refusal([] { return deny(SYS_pwrite64, ENOSPC); }, "write", "No space left on device");
}

// A signal of the program's own that waits stays waiting; none is added, and the mask is as before.
TEST_F(spill, a_size_limit_leaves_the_signals_as_they_were) {
    for (const bool blocked : {false, true})
        for (const bool pending : {false, true}) {
            if (pending && !blocked) continue;
            EXPECT_EQ(in_child([&]() -> std::string {
                          sigset_t size, now;
                          ::sigemptyset(&size);
                          ::sigaddset(&size, SIGXFSZ);
                          if (blocked) ::pthread_sigmask(SIG_BLOCK, &size, nullptr);
                          if (pending) ::raise(SIGXFSZ);
                          if (!limit_file_size(4'000)) return "cannot restrict";
                          const auto got = sorted_hashes::gather(given_, options());
                          if (got || got.error().code != error_code::io) return "not refused";
                          ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
                          if ((::sigismember(&now, SIGXFSZ) == 1) != blocked) return "another mask";
                          ::sigpending(&now);
                          if ((::sigismember(&now, SIGXFSZ) == 1) != pending) return "another signal";
                          return "";
                      }),
                      "")
                << blocked << pending;
        }
}

TEST_F(spill, from_a_disk_that_cannot_be_read) {
    expect_refusal([] { return deny(SYS_pread64, EIO); }, "read", "Input/output error");
}

TEST_F(spill, shards_say_when_they_cannot_be_read) {
    const std::string said = in_child([&]() -> std::string {
        const auto set = sorted_hashes::gather(given_, options()).value();
        if (!deny(SYS_pread64, EIO)) return "cannot restrict";
        hashes room;
        const auto part = set.shard(0, 3, room);
        return part ? "" : std::string(name_of(part.error().code)) + ": " + part.error().message;
    });
    EXPECT_EQ(said, "io: cannot read a temporary file in " + folder_.path() + ": Input/output error");
}

TEST_F(spill, where_there_are_no_nameless_files) {
    EXPECT_EQ(in_child([&]() -> std::string {
                  if (!deny(SYS_openat, EOPNOTSUPP, O_TMPFILE & ~O_DIRECTORY)) return "";
                  const auto set = sorted_hashes::gather(given_, options());
                  if (!set) return set.error().message;
                  if (set->in_memory() || set->size() != given_.size()) return "not spilled";
                  return folder_.entries() == 0 ? "" : "it has a name";
              }),
              "");
}

TEST_F(spill, without_memory_it_says_so) {
    if (!memory_is_real) GTEST_SKIP() << "not under a checker";
    const std::string said = in_child([&]() -> std::string {
        const rlimit limit{32 * mebi, 32 * mebi}; // less than is mapped already: nothing more is given
        if (::setrlimit(RLIMIT_AS, &limit) != 0) return "cannot restrict";
        auto wanted = options(64 * mebi);
        const auto got = sorted_hashes::gather(random_source(20'000'000, 3), wanted);
        return got ? "" : std::string(name_of(got.error().code));
    });
    EXPECT_EQ(said, "out_of_memory");
}

// ---- sources ---------------------------------------------------------------------------------------------------------

// Gives `before` hashes, and then what `at_last` returns.
template <class AtLast>
hash_source ending(std::uint64_t before, AtLast at_last) {
    return [inner = random_source(before, 4), at_last](std::span<std::uint64_t> into) -> result<std::size_t> {
        auto got = inner(into);
        return *got != 0 ? got : at_last(into);
    };
}

TEST_F(spill, a_source_that_ends_at_once) {
    for (const std::uint64_t cap : {std::uint64_t{0}, mebi}) {
        const auto set = sorted_hashes::gather(random_source(0, 4), options(cap)).value();
        EXPECT_EQ(set.size(), 0u);
        EXPECT_TRUE(set.in_memory());
        hashes room;
        EXPECT_TRUE(set.shard(0, 1, room).value().empty());
        EXPECT_TRUE(set.shard(6, 7, room).value().empty());
    }
}

TEST_F(spill, a_source_that_fails) {
    for (const std::uint64_t before : {0u, 1'000u, 300'000u}) {
        const auto got =
            sorted_hashes::gather(ending(before,
                                         [](auto) -> result<std::size_t> {
                                             return failure{error_code::corrupt, "row 17 is damaged"};
                                         }),
                                  options());
        EXPECT_TRUE(fails_with(got, error_code::corrupt, "row 17 is damaged")) << before;
    }
}

TEST_F(spill, a_source_that_gives_too_much) {
    for (const std::uint64_t before : {0u, 300'000u}) {
        const auto got = sorted_hashes::gather(
            ending(before, [](auto into) -> result<std::size_t> { return into.size() + 1; }), options());
        EXPECT_TRUE(fails_with(got, error_code::io, "source", "asked for")) << before;
    }
}

TEST_F(spill, a_source_that_throws) {
    for (const std::uint64_t before : {0u, 1'000u, 300'000u}) {
        const auto broken =
            ending(before, [](auto) -> result<std::size_t> { throw std::runtime_error("lost"); });
        EXPECT_THROW((void)sorted_hashes::gather(broken, options()), std::runtime_error) << before;
        EXPECT_EQ(open_files(), open_before_);
        const auto hungry = ending(before, [](auto) -> result<std::size_t> { throw std::bad_alloc(); });
        EXPECT_TRUE(fails_with(sorted_hashes::gather(hungry, options()), error_code::out_of_memory));
        EXPECT_EQ(open_files(), open_before_);
    }
}

// ---- progress --------------------------------------------------------------------------------------------------------

struct told {
    std::vector<build_progress> all;
    bool here_only = true;
    // Stops at a call.
    std::function<bool(const build_progress&)> until(std::size_t call) {
        return [this, call, builder = std::this_thread::get_id()](const build_progress& now) {
            here_only &= std::this_thread::get_id() == builder;
            all.push_back(now);
            return all.size() < call;
        };
    }
};

TEST_F(spill, progress_goes_forward_to_its_end) {
    const hashes many = random_hashes(4'000'000, 5);
    for (const std::uint64_t cap : {std::uint64_t{0}, 8 * mebi}) {
        for (const bool streamed : {false, true}) {
            SCOPED_TRACE(std::to_string(cap) + (streamed ? " from a source" : " from a span"));
            told heard;
            auto wanted = options(cap);
            wanted.progress = heard.until(~std::size_t{0});
            const auto set = streamed ? sorted_hashes::gather(random_source(many.size(), 5), wanted)
                                      : sorted_hashes::gather(many, wanted);
            ASSERT_TRUE(set.has_value());
            EXPECT_EQ(set->in_memory(), cap == 0);
            EXPECT_TRUE(heard.here_only);
            ASSERT_GE(heard.all.size(), 2u); // how many are between depends on which thread does the work
            EXPECT_EQ(heard.all.front().stage, build_stage::gathering);
            EXPECT_EQ(heard.all.back().stage, build_stage::sorting);
            EXPECT_EQ(heard.all.back().done, many.size());
            std::uint64_t gathered = 0;
            for (std::size_t i = 0; i < heard.all.size(); ++i) {
                const build_progress& now = heard.all[i];
                if (i > 0) {
                    EXPECT_GE(now.stage, heard.all[i - 1].stage);
                }
                if (i > 0 && now.stage == heard.all[i - 1].stage) {
                    EXPECT_GE(now.done, heard.all[i - 1].done);
                }
                const bool unknown = streamed && now.stage == build_stage::gathering;
                EXPECT_EQ(now.total, unknown ? 0 : many.size());
                if (now.stage == build_stage::gathering) gathered = now.done;
            }
            EXPECT_GE(gathered, many.size() - mebi);
        }
    }
}

TEST_F(spill, can_be_cancelled_at_every_call) {
    for (const std::uint64_t cap : {std::uint64_t{0}, mebi}) {
        for (const bool streamed : {false, true}) {
            SCOPED_TRACE(std::to_string(cap) + (streamed ? " from a source" : " from a span"));
            bool finished = false;
            bool while_gathering = false;
            bool while_sorting = false;
            for (std::size_t call = 1; !finished; call += 1 + call / 4) {
                told heard;
                auto wanted = options(cap);
                wanted.progress = heard.until(call);
                const auto set = streamed ? sorted_hashes::gather(random_source(given_.size(), 1), wanted)
                                          : sorted_hashes::gather(given_, wanted);
                EXPECT_TRUE(heard.here_only);
                finished = heard.all.size() < call;
                EXPECT_EQ(set.has_value(), finished);
                if (finished) break;
                EXPECT_TRUE(fails_with(set, error_code::cancelled, "the build was cancelled"));
                EXPECT_EQ(heard.all.size(), call) << "asked again after it was told to stop";
                (heard.all.back().stage == build_stage::gathering ? while_gathering : while_sorting) = true;
            }
            EXPECT_TRUE(while_gathering);
            EXPECT_TRUE(while_sorting);
            EXPECT_EQ(open_files(), open_before_);
        }
    }
}

// ---- what stays, and what it takes -----------------------------------------------------------------------------------

TEST_F(spill, nothing_stays_of_a_process_that_is_killed) {
    for (std::uint64_t round = 0; round < std::max<std::uint64_t>(5, scaled(40)); ++round) {
        child builder([&] {
            for (;;)
                if (!sorted_hashes::gather(given_, options())) return 2;
        });
        ::usleep(static_cast<useconds_t>(random_hash(6, round) % 30'000));
        ASSERT_TRUE(builder.kill()) << "it ended by itself";
        ASSERT_EQ(folder_.entries(), 0u);
    }
}

TEST_F(spill, threads_read_shards_at_once) {
    const auto set = sorted_hashes::gather(given_, options()).value();
    ASSERT_FALSE(set.in_memory());
    hashes room;
    const auto all = set.shard(0, 1, room).value();
    std::vector<std::uint64_t> counts(4);
    {
        std::vector<std::jthread> threads;
        for (unsigned thread = 0; thread < 4; ++thread)
            threads.emplace_back([&, thread] {
                hashes own;
                for (std::uint64_t shard = thread; shard < 64; shard += 4) {
                    const auto part = set.shard(shard, 64, own).value();
                    const auto first = std::lower_bound(all.begin(), all.end(), shard << 58);
                    if (std::equal(part.begin(), part.end(), first)) counts[thread] += part.size();
                }
            });
    }
    EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3], given_.size());
}

std::uint64_t status_kib(const std::string& field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind(field, 0) == 0) return std::stoull(line.substr(field.size()));
    return 0;
}

// What the kernel's count of resident memory may be off by: it keeps a part of it for each processor, of up to
// max(32, 2 x processors) pages. The children here stay on one processor, and come from one other.
std::uint64_t count_error_kib() {
    const auto processors = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_CONF));
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return 2 * std::max<std::uint64_t>(32, 2 * processors) * page / 1024;
}
bool stay_on_this_processor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

// By the peak of resident memory of a process of its own.
TEST_F(spill, the_memory_keeps_to_its_cap) {
    if (!memory_is_real) GTEST_SKIP() << "not under a checker";
    for (const std::uint64_t cap : {4 * mebi, 32 * mebi}) {
        const std::uint64_t count = std::max(scaled(cap / 4), cap / 8);
        const hashes many = random_hashes(count, 7);
        for (const bool streamed : {false, true}) {
            for (const unsigned threads : {1u, 2u, 64u}) {
                const std::string said = in_child([&]() -> std::string {
                    if (!stay_on_this_processor()) return "failed: no affinity";
                    ::malloc_trim(0); // what earlier tests left free would hide what is taken now
                    std::ofstream("/proc/self/clear_refs") << "5"; // the peak is from now on
                    const std::uint64_t before = status_kib("VmRSS:");
                    const auto wanted = options(cap, threads);
                    const auto set = streamed ? sorted_hashes::gather(random_source(count, 7), wanted)
                                              : sorted_hashes::gather(many, wanted);
                    if (!set) return "failed: " + set.error().message;
                    if (set->in_memory()) return "failed: in memory";
                    if (set->size() != count) return "failed: lost some";
                    if (set->memory_bytes() > cap / 8) return "failed: much is kept";
                    return std::to_string(status_kib("VmHWM:") - before);
                });
                ASSERT_EQ(said.find_first_not_of("0123456789"), std::string::npos) << said;
                // What of the program itself was not touched before counts too: its code, and the allocator's own.
                EXPECT_LE(std::stoull(said), (cap + cap / 10) / 1024 + 512 + count_error_kib())
                    << cap << " bytes, " << threads << " threads, streamed " << streamed;
                EXPECT_GE(std::stoull(said), cap / 1024 / 4) << "measures nothing";
            }
        }
    }
}

} // namespace
} // namespace bouncer::test
