// Bytes are a static kind, a goal, and up to a few hundred hashes with structure: repeated, equal, few bits, neighbours.
// build() must give a filter that has every key and keeps the goal, the same for every order, repetition and number of
// threads; or a failure that says why.
#include "kinds.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace bouncer::fuzz {
namespace {

template <class F>
struct is_buildable : std::bool_constant<buildable<F>> {};

// Runs of hashes: a start, a step and a count.
std::vector<std::uint64_t> any_hashes(input& in) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t runs = in.below(5); runs-- > 0;) {
        std::uint64_t hash = in.number();
        const std::uint64_t step = in.below(3) == 0 ? 0x9e3779b97f4a7c15u : in.number();
        for (std::uint64_t count = in.below(200); count-- > 0; hash += step) out.push_back(hash);
    }
    return out;
}

template <class F>
void check_failure(const result<F>& made) {
    law(name_of(made.error().code) != "unknown", "a failure has a known code");
    law(!made.error().message.empty() && made.error().message.size() < 500,
        "a failure says why, in a sentence");
}

template <class F>
void check_filter(const F& made, std::span<const std::uint64_t> hashes) {
    const std::unique_ptr<bool[]> answers(new bool[hashes.size() + 1]);
    law(made.may_contain(hashes, std::span(answers.get(), hashes.size())) == hashes.size(),
        "a batch has no false negative");
    for (const std::uint64_t hash : hashes) law(made.may_contain(hash), "no false negative");
    for (std::uint64_t i = 0; i < 64; ++i) {
        const std::uint64_t hash = detail::mix64(i);
        const bool answer = made.may_contain(hash);
        bool batched = !answer;
        made.may_contain({&hash, 1}, {&batched, 1});
        law(answer == batched, "a batch answers as single calls");
        law(!answer || made.keys() != 0, "an empty filter says no");
    }
}

template <class F>
void build_and_check(input& in) {
    goal wanted;
    if (in.below(4) != 0) wanted.false_positive_rate = in.real();
    if (in.below(4) == 0) wanted.size_bytes = in.below(4096);
    wanted.prefer = static_cast<enum prefer>(in.below(4));
    const build_options options{
        .memory = {.huge_pages = false}, .threads = 1, .seed = in.take<std::uint64_t>()};
    std::vector<std::uint64_t> hashes = any_hashes(in);
    const auto made = F::build(hashes, wanted, options);
    if (!made) return check_failure(made);
    check_filter(*made, hashes);
    if (wanted.false_positive_rate)
        law(made->expected_fpr() <= *wanted.false_positive_rate * (1 + 1e-5), "the rate is kept");
    if (wanted.size_bytes) law(made->size_bytes() <= *wanted.size_bytes, "the size is kept");
    const std::size_t given = hashes.size();
    for (std::size_t i = 0; i < given; i += 3) hashes.push_back(hashes[i]);
    std::reverse(hashes.begin(), hashes.end());
    build_options other = options;
    other.threads = 2;
    const auto again = F::build(hashes, wanted, other);
    law(again.has_value(), "order and repetition decide nothing");
    law(*again == *made, "the same set, goal and seed give the same words");
}

void cascade_and_check(input& in) {
    const std::vector<std::uint64_t> listed = any_hashes(in);
    const std::vector<std::uint64_t> others = any_hashes(in);
    const auto made = cascade::build(std::span<const std::uint64_t>(listed), others, {.threads = 1});
    if (!made) return check_failure(made);
    for (const std::uint64_t hash : listed) law(made->may_contain(hash), "what is listed is there");
    for (const std::uint64_t hash : others) law(!made->may_contain(hash), "what is not listed is not");
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer::fuzz;
    input in(data, size);
    if (in.below(4) == 0)
        cascade_and_check(in);
    else
        with_a_kind_that<is_buildable, bouncer::plain_words>(in, [&]<class F>() { build_and_check<F>(in); });
    return 0;
}
