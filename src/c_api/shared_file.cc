#include "c_api/shared_file.h"

#include <optional>
#include <utility>

namespace bouncer::c_api {

namespace {

// The filter itself has been moved out, with its mapping.
template <class F>
class shared_file_of final : public shared_file {
  public:
    explicit shared_file_of(shared_filter<F> held) : held_(std::move(held)) {}
    result<void> sync() override { return held_.sync(); }
    result<void> seal() override { return held_.seal(); }

  private:
    shared_filter<F> held_;
};

template <class F>
result<opened_shared> open_as(const std::string& path, const hash_spec& hash) {
    auto opened = detail::shared_from<F>(path, verification::eager, std::nullopt, [&](F filter) -> result<F> {
        if (filter.hash() != hash) return failure{error_code::io, path + " was replaced while it was opened"};
        return filter;
    });
    if (!opened) return opened.error();
    any_filter filter(std::move(**opened));
    return opened_shared{std::make_unique<shared_file_of<F>>(std::move(*opened)), std::move(filter)};
}

} // namespace

result<opened_shared> open_shared_file(const std::string& path, std::uint16_t kind, const hash_spec& hash) {
    std::optional<result<opened_shared>> out;
    for_each_kind<atomic_words>([&]<class F>() {
        if (F::kind_id != kind) return;
        if constexpr (detail::shareable<F>)
            out.emplace(open_as<F>(path, hash));
        else
            out.emplace(failure{error_code::unsupported,
                                path + ": a " + std::string(F::kind_name) + " cannot be shared: load it"});
    });
    if (out) return std::move(*out);
    return failure{error_code::unknown_version, path + ": no kind has the id " + std::to_string(kind)};
}

} // namespace bouncer::c_api
