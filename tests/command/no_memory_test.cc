// No memory in the threads of a pipeline: an error, told by run(), and no sudden end.
#include "pipeline.h"
#include "records.h"
#include "signals.h"
#include "support/operator_new.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

namespace {

std::atomic<std::size_t> refused_bytes = SIZE_MAX; // blocks of that size and larger

} // namespace

bool bouncer::test::may_allocate(std::size_t bytes) noexcept {
    return bytes < refused_bytes;
}

namespace bouncer::tool {
namespace {

struct counting_job {
    std::size_t& delivered;
    void work(const chunk&) {}
    void deliver(const chunk& records, std::uint64_t) { delivered += records.records(); }
};

// A chunk of short lines needs 4 bytes a line beside its own, when it is split.
TEST(command_no_memory, in_a_thread_of_a_pipeline_is_an_error) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("no_memory_test." + std::to_string(::getpid()));
    std::ofstream(path) << "a line\n" << std::string(std::size_t{3} << 20, '\n');
    for (const unsigned threads : {1u, 3u}) {
        std::size_t delivered = 0;
        record_reader reader({path}, framing::lines);
        pipeline<counting_job> line(reader, framing::lines, [&] { return counting_job{delivered}; });
        refused_bytes = std::size_t{3} << 20;
        EXPECT_THROW(line.run(threads), std::bad_alloc);
        refused_bytes = SIZE_MAX;
        EXPECT_EQ(delivered, 0u);
        resume_reading(); // for the tests behind this one
    }
    std::filesystem::remove(path);
}

} // namespace
} // namespace bouncer::tool
