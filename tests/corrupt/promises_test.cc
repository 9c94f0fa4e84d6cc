// Headers that are right in every way, and promise a payload that never comes: no memory is committed for it.
#include "corrupt/largest_allocation.h"
#include "corrupt/readers.h"

#include "format/compression.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdio>

namespace bouncer::test {

namespace {

std::size_t resident_peak_bytes() {
    rusage used = {};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_maxrss) << 10;
}

constexpr std::size_t noise_bytes = std::size_t{48} << 20; // the sanitizers' own, and 2 MiB pages

// In a child, whose peak is its own: the code of the refusal, and that the peak grew by less than the noise.
template <class Read>
::testing::AssertionResult cheaply_refused(error_code code, Read read, std::optional<error_code> also = {}) {
    const pid_t child = ::fork();
    if (child == 0) {
        const allocation_watch watch;
        const std::size_t before = resident_peak_bytes();
        const refusal got = read();
        const std::size_t grown = resident_peak_bytes() - before;
        if (!got) ::_exit(1);
        if (got->code != code && (!also || got->code != *also)) {
            std::fprintf(stderr, "%s\n", got->message.c_str());
            ::_exit(2);
        }
        if (grown > noise_bytes) {
            std::fprintf(stderr, "%zu MiB more\n", grown >> 20);
            ::_exit(3);
        }
        ::_exit(watch.largest() > noise_bytes ? 4 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ::testing::AssertionSuccess();
    constexpr const char* meanings[] = {"", "accepted", "another code", "pages were committed",
                                        "operator new was asked for too much"};
    if (WIFEXITED(status) && WEXITSTATUS(status) < 5)
        return ::testing::AssertionFailure() << meanings[WEXITSTATUS(status)];
    return ::testing::AssertionFailure() << "the child died, status " << status;
}

class promises : public kind_test {
  protected:
    // A header for about `bytes` of payload, or the most that the kind can have (a split block filter: 128 MiB), and
    // nothing but a little of the payload after it.
    byte_vector promise_of(std::uint64_t bytes, bool compressed = false) const {
        const byte_vector small = bytes_of(small_filter(k));
        snapshot_info info = info_of(small);
        // The size is the first field of every kind, and may be any multiple.
        const std::uint64_t unit = info.fields[0];
        std::uint64_t factor = bytes / info.payload_bytes;
        do {
            info.fields[0] = unit * factor;
            factor /= 2;
        } while (!k.stored_words(info.fields));
        info.payload_bytes = k.stored_words(info.fields).value() * 8;
        info.compressed = compressed;
        const detail::header_page page = detail::encode_header(info);
        byte_vector out(page.begin(), page.end());
        out.resize(out.size() + 100);
        return out;
    }

    scratch_folder folder_;
};
INSTANTIATE_TEST_SUITE_P(all, promises, shareable_kinds(), short_kind_names);

TEST_P(promises, of_a_source_commit_no_memory) {
    // Half a GiB, which every machine has; and prefault, which is not for sources.
    const byte_vector bytes = promise_of(std::uint64_t{512} << 20);
    EXPECT_TRUE(cheaply_refused(
        error_code::corrupt, [&] { return load_streamed(k, bytes); }, error_code::out_of_memory));
    EXPECT_TRUE(cheaply_refused(
        error_code::corrupt, [&] { return open_streamed(bytes); }, error_code::out_of_memory));
    EXPECT_TRUE(cheaply_refused(
        error_code::corrupt,
        [&] {
            byte_supply supply(bytes);
            return refusal_of(k.load(supply.source(), memory_options{.prefault = true}));
        },
        error_code::out_of_memory));
}

TEST_P(promises, beyond_the_machine_are_too_large) {
    for (const unsigned power : {45u, 46u}) {
        const byte_vector bytes = promise_of(std::uint64_t{1} << power);
        if (info_of(bytes).payload_bytes <= memory_limit_bytes()) GTEST_SKIP() << "a kind of small filters";
        EXPECT_TRUE(cheaply_refused(error_code::too_large, [&] { return load_streamed(k, bytes); }));
        EXPECT_TRUE(cheaply_refused(error_code::too_large, [&] { return open_streamed(bytes); }));
    }
}

TEST_P(promises, of_a_file_are_compared_with_its_size) {
    for (const unsigned power : {21u, 29u, 46u}) {
        const std::string path = folder_.write("promise", promise_of(std::uint64_t{1} << power));
        for (const reader& each : readers(k))
            EXPECT_TRUE(cheaply_refused(error_code::corrupt, [&] { return each.read(path); })) << each.name;
    }
}

TEST_P(promises, of_a_compressed_file_are_compared_with_its_size) {
    if (!detail::check_compression()) GTEST_SKIP() << "built without zstd";
    for (const unsigned power : {29u, 46u}) {
        const byte_vector bytes = promise_of(std::uint64_t{1} << power, true);
        const std::string path = folder_.write("promise", bytes);
        for (const reader& each : readers(k))
            EXPECT_TRUE(cheaply_refused(error_code::corrupt, [&] { return each.read(path); })) << each.name;
        EXPECT_TRUE(cheaply_refused(
            info_of(bytes).payload_bytes > memory_limit_bytes() ? error_code::too_large : error_code::corrupt,
            [&] { return load_streamed(k, bytes); }, error_code::out_of_memory));
    }
}

// 2^40 bytes that are holes: the size is right, and nothing may be read or allocated for it before it is refused.
TEST_P(promises, of_a_sparse_file_commit_no_memory) {
    byte_vector bytes = promise_of(std::uint64_t{1} << 40);
    const std::uint64_t size = detail::file_bytes(info_of(bytes).payload_bytes);
    const std::string path = folder_.write("sparse", bytes);
    if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0) GTEST_SKIP() << "no such large files here";
    for (const reader& each : readers(k))
        EXPECT_TRUE(cheaply_refused(error_code::corrupt, [&] { return each.read(path); })) << each.name;
}

} // namespace
} // namespace bouncer::test
