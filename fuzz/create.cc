// Bytes are a goal, or explicit parameters, sensible or absurd. create() must answer quickly with a filter that keeps
// the goal or with a failure that says why, and take no memory beyond what the filter needs: all of it comes from an
// allocator that counts, and refuses more than 64 MiB.
#include "kinds.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace bouncer::fuzz {
namespace {

// Hands out blocks with a header of 64 bytes that holds their size.
class counting_host {
  public:
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;
    static constexpr std::size_t header_bytes = 64;

    ~counting_host() { law(held_ == 0, "all memory is given back"); }

    memory_options options() { return {.host = host_allocator{allocate, release, this}}; }
    std::size_t held() const { return held_; }

  private:
    static void* allocate(void* context, std::size_t bytes) noexcept {
        auto& self = *static_cast<counting_host*>(context);
        if (bytes > most_bytes - self.held_) return nullptr;
        auto* const block = static_cast<std::byte*>(std::malloc(bytes + header_bytes));
        if (block == nullptr) return nullptr;
        std::memcpy(block, &bytes, sizeof bytes);
        std::memset(block + header_bytes, 0xa5, std::min<std::size_t>(bytes, 4096)); // blocks may be dirty
        self.held_ += bytes;
        return block + header_bytes;
    }
    static void release(void* context, void* block) noexcept {
        std::byte* const start = static_cast<std::byte*>(block) - header_bytes;
        std::size_t bytes = 0;
        std::memcpy(&bytes, start, sizeof bytes);
        static_cast<counting_host*>(context)->held_ -= bytes;
        std::free(start);
    }

    std::size_t held_ = 0;
};

void check_failure(const failure& why) {
    law(name_of(why.code) != "unknown", "a failure has a known code");
    law(!why.message.empty() && why.message.size() < 500, "a failure says why, in a sentence");
}

goal any_goal(input& in) {
    goal wanted;
    const std::uint64_t form = in.below(8);
    wanted.keys = in.number();
    if ((form & 1) != 0) wanted.false_positive_rate = in.real();
    if ((form & 2) != 0) wanted.size_bytes = in.number();
    wanted.prefer = static_cast<enum prefer>(in.below(4)); // 3 is none of them
    return wanted;
}

// A goal that makes sense for every kind may be too large, but not invalid.
bool makes_sense(const goal& wanted) {
    if (wanted.keys == 0 || wanted.keys > std::uint64_t{1} << 48 || wanted.prefer > prefer::space)
        return false;
    if (wanted.size_bytes && *wanted.size_bytes < 128) return false; // the largest block of any kind
    if (!wanted.false_positive_rate) return wanted.size_bytes.has_value();
    return *wanted.false_positive_rate > math::hash_collision_rate(static_cast<double>(wanted.keys)) &&
           *wanted.false_positive_rate < 1;
}

template <class F>
void check_goal(const goal& wanted, const filter_options& options, const result<F>& made) {
    const bool hash_is_fit = !options.hash || detail::storage_access::check_hash<F>(*options.hash);
    if (!made) {
        const error_code code = made.error().code;
        // Other kinds have larger units, or no size at all.
        law(!is_bit_filter<F>::value || !makes_sense(wanted) || !hash_is_fit ||
                code == error_code::too_large || code == error_code::out_of_memory,
            "a goal that makes sense is not invalid");
        return;
    }
    law(hash_is_fit, "no filter for a hash that its kind refuses");
    law(wanted.keys != 0, "no filter for no keys");
    // dcso_bloom has the size that another program gives it.
    if (wanted.false_positive_rate && F::kind_id != plain_dcso_bloom::kind_id)
        law(made->fpr_at(wanted.keys) <= *wanted.false_positive_rate * (1 + 1e-9), "the rate is kept");
    if (wanted.size_bytes) law(made->size_bytes() <= *wanted.size_bytes, "the size is kept");
}

// What only bit filters are asked.
template <class F>
void ask_bits(input& in, const F& made, counting_host& host) {
    const double limit = in.real();
    const std::uint64_t capacity = made.capacity(limit);
    law(capacity <= std::uint64_t{1} << 63, "a capacity is at most 2^63");
    if (capacity > 0 && capacity < std::uint64_t{1} << 63)
        law(made.fpr_at(capacity) <= limit && made.fpr_at(capacity + 1) > limit, "a capacity is the most");
    if (made.size_bytes() > 1 << 20) return; // the rest takes time in proportion
    const auto samples = static_cast<std::uint32_t>(in.below(100));
    const auto seed = in.take<std::uint64_t>();
    for (const estimate& sampled : {made.sampled_fill_ratio(samples, seed), made.sampled_size(samples, seed),
                                    made.sampled_fpr(samples, seed)})
        law(0 <= sampled.low && sampled.low <= sampled.value && sampled.value <= sampled.high,
            "an estimate lies within its bounds");
    const std::uint64_t factor = in.number();
    if constexpr (foldable<F>) {
        const auto small = made.fold(factor, host.options());
        if (!small) check_failure(small.error());
    }
}

// What a filter that exists answers to arguments of any value.
template <class F>
void ask(input& in, F& made, counting_host& host) {
    std::uint64_t keys = in.number();
    // A chain plans each layer that it does not have yet, 5 ms (here 50): 8 of them, not 64.
    if constexpr (requires { made.params().first_keys; }) keys = std::min(keys, 8 * made.params().first_keys);
    const double rate = made.fpr_at(keys);
    law(rate >= 0 && rate <= 1, "fpr_at is a rate");
    if (made.size_bytes() <= 1 << 20) made.add(in.take<std::uint64_t>());
    if constexpr (is_bit_filter<F>::value) ask_bits(in, made, host);
}

} // namespace
} // namespace bouncer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace bouncer;
    using namespace bouncer::fuzz;
    input in(data, size);
    counting_host host;
    with_a_kind<plain_words>(in, [&]<class F>() {
        filter_options options{.memory = host.options()};
        if (in.below(4) == 0)
            options.hash = hash_spec{static_cast<std::uint32_t>(in.number()), in.take<std::uint64_t>()};
        const auto make = [&] {
            if (in.below(3) != 0) {
                const goal wanted = any_goal(in);
                auto made = F::create(wanted, options);
                check_goal(wanted, options, made);
                return made;
            }
            typename F::parameters chosen;
            absurd(in, chosen);
            auto made = F::create(chosen, options);
            law(!made || made->params() == chosen, "explicit parameters are kept");
            return made;
        };
        auto made = make();
        if (!made) {
            check_failure(made.error());
            return;
        }
        law(host.held() >= made->size_bytes(), "a filter takes its size");
        if constexpr (is_bit_filter<F>::value)
            law(host.held() <= made->size_bytes() + 128, "a filter takes its size and no more");
        law(made->fill_ratio() == 0 || made->size_bytes() > 1 << 20, "a new filter is empty");
        ask(in, *made, host);
    });
    return 0;
}
