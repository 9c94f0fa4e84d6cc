// A limit on the size of files (RLIMIT_FSIZE) is io for whatever writes one. The signal that the system sends with it,
// which ends a process by default, is not noticed.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/failures.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/interchange.h>
#include <bouncer/snapshot.h>
#include <bouncer/split_block_bloom.h>

#include <sys/resource.h>

#include <csignal>
#include <functional>

namespace bouncer::test {
namespace {

class size_limit : public ::testing::Test {
  protected:
    static bool limited(rlim_t bytes) {
        const rlimit limit{bytes, bytes};
        return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    }
    // What `call` says in a process whose files end at `bytes`, and that its signals are as before.
    template <class Call>
    static std::string said(rlim_t bytes, Call call) {
        return in_child([&]() -> std::string {
            sigset_t before, now;
            ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
            if (!limited(bytes)) return "cannot restrict";
            const auto got = call();
            ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
            if (::sigismember(&now, SIGXFSZ) != ::sigismember(&before, SIGXFSZ)) return "another mask";
            ::sigpending(&now);
            if (::sigismember(&now, SIGXFSZ) == 1) return "a signal waits";
            return got ? "" : std::string(name_of(got.error().code)) + ": " + got.error().message;
        });
    }
    // Whatever the process does with the signal: io with the system's text, the old output and nothing else.
    template <class Call>
    void expect_io(rlim_t bytes, Call call) {
        for (auto* const handler : {SIG_DFL, SIG_IGN}) {
            const std::string before = bytes_of(output_);
            const std::size_t files = folder_.entries();
            const std::string why = said(bytes, [&] {
                (void)std::signal(SIGXFSZ, handler);
                return call();
            });
            EXPECT_EQ(why.rfind("io: ", 0), 0u) << why;
            EXPECT_NE(why.find("File too large"), std::string::npos) << why;
            EXPECT_NE(why.find(output_), std::string::npos) << why;
            EXPECT_TRUE(bytes_of(output_) == before);
            EXPECT_EQ(folder_.entries(), files);
        }
    }

    scratch_folder folder_;
    std::string output_ = folder_ / "output";
    std::string input_ = folder_ / "input";
    atomic_split_block_bloom filter_ =
        atomic_split_block_bloom::create(split_block_bloom_parameters{2 * chunk_size / 32}).value();
};

TEST_F(size_limit, save_merge_fold) {
    filter_.add(1);
    save(filter_, input_).value();
    filter_.add(2);
    save(filter_, output_).value();
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{4'000}, rlim_t{chunk_size}}) {
        expect_io(bytes, [&] { return save(filter_, output_); });
        expect_io(bytes, [&] { return save(filter_, output_, {.durable = false}); });
        expect_io(bytes, [&] { return merge_files({input_, output_}, output_); });
        expect_io(bytes, [&] { return fold_file(input_, output_, 2); });
    }
    EXPECT_EQ(said(3 * chunk_size, [&] { return save(filter_, output_); }), "");
}

TEST_F(size_limit, import_and_export) {
    filter_.add(1);
    save(filter_, input_).value();
    const std::string foreign = folder_ / "foreign";
    export_file(foreign_format::parquet_sbbf, input_, foreign).value();
    save(filter_, output_).value();
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{chunk_size}}) {
        expect_io(bytes, [&] { return export_file(foreign_format::parquet_sbbf, input_, output_); });
        expect_io(bytes, [&] { return import_file(foreign_format::parquet_sbbf, foreign, output_); });
    }
}

// Adds go through memory, which knows no limit. A seal writes its checksums behind the payload.
TEST_F(size_limit, seal) {
    save(filter_, output_).value();
    auto shared = open_shared<atomic_split_block_bloom>(output_).value();
    shared->add(1);
    expect_io(chunk_size, [&] { return shared.seal(); });
    EXPECT_TRUE(shared->may_contain(1));
    EXPECT_TRUE(open_shared<atomic_split_block_bloom>(output_).has_value());
    shared.seal().value();
    EXPECT_EQ(verify(output_).value().state, file_state::sealed);
}

// A signal of the program's own that waits stays waiting.
TEST_F(size_limit, leaves_the_signals_as_they_were) {
    EXPECT_EQ(in_child([&]() -> std::string {
                  sigset_t size, now;
                  ::sigemptyset(&size);
                  ::sigaddset(&size, SIGXFSZ);
                  ::pthread_sigmask(SIG_BLOCK, &size, nullptr);
                  ::raise(SIGXFSZ);
                  if (!limited(4'000)) return "cannot restrict";
                  if (save(filter_, output_)) return "not refused";
                  ::sigpending(&now);
                  return ::sigismember(&now, SIGXFSZ) == 1 ? "" : "the signal is gone";
              }),
              "");
}

} // namespace
} // namespace bouncer::test
