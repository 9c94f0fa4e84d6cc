// Filters that are made, filled with the present keys and checked, and kept as long as a group is measured. Every
// operation leaves its filter full of the same keys, so all rows of a subject share one.
#pragma once

#include "plugin.h"
#include "variant.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

struct instance {
    const subject_type* type = nullptr;
    std::unique_ptr<subject> filter; // null: cannot be measured
    double bits_per_key = 0;
    double fpr_measured = 0;
    std::string note;       // "unmeasured: ..." or "void: ..."
    bool fpr_wrong = false; // the measured rate is out of bounds
};

class instances {
  public:
    instances(const std::vector<plugin>& plugins, std::uint64_t max_bytes)
        : plugins_(plugins), max_bytes_(max_bytes) {}

    instance& get(const variant& what);
    void forget() { made_.clear(); }

    // The size at which a subject has the wanted rate; 0 as it sizes itself.
    struct size {
        double bits_per_key = 0;
        std::string note;            // "void: ..." when there is none
        bool promise_broken = false; // one of our kinds, as it sized itself, was far above its goal
    };

  private:
    std::unique_ptr<subject> make(const subject_type& type, const variant& what, double bits_per_key) const;
    // Hands over the filter that showed the size to be right, unless it was known already.
    size size_for(const subject_type& type, const variant& what, std::unique_ptr<subject>& made);

    const std::vector<plugin>& plugins_;
    std::uint64_t max_bytes_;
    // By build, because a peer's bits may depend on the instructions it was compiled for.
    using size_key = std::tuple<std::string, std::string, preference, std::uint64_t, double>;
    std::map<size_key, size> sizes_;
    std::map<std::pair<page_size, size_key>, instance> made_;
};

// Adds every present key, untimed, on all cores where the subject allows it.
void fill(subject& filter, const subject_type& type, std::uint64_t keys);
// The rate over absent hashes: 2M at 1 %, more below, so that its sigma stays below 1 %.
double measure_fpr(const subject& filter, const subject_type& type, double expected);
std::uint64_t fpr_samples(double expected);

} // namespace bench
