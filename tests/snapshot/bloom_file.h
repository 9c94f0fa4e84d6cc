// A file of a flat filter, for tests of who may use it when.
#pragma once

#include "snapshot/files.h"
#include "snapshot/sizes.h"
#include "support/random_hashes.h"
#include "support/subject.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace bouncer::test {

class bloom_file : public ::testing::Test {
  protected:
    static std::uint64_t key(std::uint64_t i) { return random_hash(31, i); }

    const kind& k = atomic_bloom_kind();
    scratch_folder folder_;
    std::string path_ = folder_ / "f"; // not there yet
    subject empty_ = k.create(goal{.keys = 10'000, .false_positive_rate = 0.001}).value();
};

} // namespace bouncer::test
