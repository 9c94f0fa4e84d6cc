// Extra memory while files are written, by the peak of a process of its own.
#include "snapshot/children.h"
#include "snapshot/files.h"
#include "snapshot/sizes.h"

#include <bouncer/snapshot.h>

namespace bouncer::test {
namespace {

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

constexpr std::uint64_t size = std::uint64_t{256} << 20;

std::uint64_t status_kib(const std::string& field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind(field, 0) == 0) return std::stoull(line.substr(field.size()));
    return 0;
}

// How far `work` raises the peak of resident memory, in KiB, measured in a child.
template <class Work>
std::uint64_t peak_kib(Work work) {
    const std::string said = in_child([&]() -> std::string {
        std::ofstream("/proc/self/clear_refs") << "5"; // the peak is from now on
        const std::uint64_t before = status_kib("VmRSS:");
        if (const auto done = work(); !done) return "failed: " + done.error().message;
        const std::uint64_t peak = status_kib("VmHWM:");
        return std::to_string(peak > before ? peak - before : 0);
    });
    EXPECT_NE(said.find_first_of("0123456789"), std::string::npos) << said;
    EXPECT_EQ(said.find("failed"), std::string::npos) << said;
    return said.find("failed") == std::string::npos ? std::stoull(said) : ~std::uint64_t{0};
}

class extra_memory : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!memory_is_real) GTEST_SKIP() << "not under a checker";
        filter_.emplace(k.create(parameters_of_bytes(k, size, 64)).value());
        for (std::uint64_t i = 0; i < 1'000'000; ++i) filter_->add(random_hash(1, i)); // touches every page
    }
    const kind& k = atomic_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "filter";
    std::optional<subject> filter_;
};

constexpr std::uint64_t allowed_kib = 4 * 1024;

TEST_F(extra_memory, of_writing_and_reading) {
    const std::string other = folder_ / "other";
    EXPECT_LE(peak_kib([&] { return save(*filter_, path_, {.durable = false}); }), allowed_kib);
    EXPECT_LE(peak_kib([&] { return save(*filter_, other, {.compress = true, .durable = false}); }),
              allowed_kib);
    filter_.reset();
    EXPECT_LE(peak_kib([&] { return verify(path_); }), allowed_kib);
    EXPECT_LE(peak_kib([&] {
                  return merge_files({path_, other, path_}, other, {.durable = false});
              }),
              2 * allowed_kib);
    EXPECT_LE(peak_kib([&] { return fold_file(path_, other, 64, {.durable = false}); }), 2 * allowed_kib);
    EXPECT_LE(peak_kib([&] { return k.load(path_); }), size / 1024 + allowed_kib);
    EXPECT_LE(peak_kib([&] { return k.map(path_); }), allowed_kib);
}

} // namespace
} // namespace bouncer::test
