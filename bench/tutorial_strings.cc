// A million 16-byte string keys into a 1 % filter, a million lookups, and a 50/50 mix on all cores: the first things a
// text measures. Each side hashes its keys itself.
#include "peers/text_bloom.h"
#include "tutorial_support.h"

#include <bouncer/blocked_bloom.h>
#include <bouncer/keyed.h>

#include <algorithm>
#include <memory>

namespace bench::tutorial {

namespace {

struct text_design {
    static constexpr const char* name = "text";
    static constexpr const char* kind = "tutorial";
    static constexpr bool peer = true;

    explicit text_design(std::uint64_t keys) : filter(text_size::for_rate(keys, rate)) {}
    void add(std::string_view key) { filter.put(key); }
    bool has(std::string_view key) const { return filter.has(key); }
    void clear() { filter.clear(); }
    std::uint64_t size_bytes() const { return filter.size_bytes(); }
    double promised(std::uint64_t) const { return rate; }
    std::string pages() const { return "4K"; }

    text_bloom filter;
};

template <class F>
struct bouncer_filter {
    static constexpr bool peer = false;
    static constexpr const char* kind = "blocked_bloom";

    explicit bouncer_filter(std::uint64_t keys)
        : filter(std::move(bouncer::keyed<F>::create({.keys = keys, .false_positive_rate = rate}).value())) {}
    void add(std::string_view key) { filter.add(key); }
    bool has(std::string_view key) const { return filter.may_contain(key); }
    void clear() { filter.clear(); }
    std::uint64_t size_bytes() const { return filter.size_bytes(); }
    double promised(std::uint64_t keys) const { return filter.filter().fpr_at(keys); }
    std::string pages() const { return page_size_of(filter.filter().memory()); }

    bouncer::keyed<F> filter;
};
struct atomic_filter : bouncer_filter<bouncer::atomic_blocked_bloom> {
    static constexpr const char* name = "atomic";
    using bouncer_filter::bouncer_filter;
};
struct plain_filter : bouncer_filter<bouncer::plain_blocked_bloom> {
    static constexpr const char* name = "plain";
    using bouncer_filter::bouncer_filter;
};

// What the rows need, made once and only if one of them is wanted.
struct workload {
    explicit workload(std::uint64_t keys)
        : present(0, keys), absent(keys, keys), mixed(shuffled(present.all(), absent.all())) {}
    text_keys present;
    text_keys absent;
    std::vector<std::string_view> mixed;
};

template <class Design>
class design_rows {
  public:
    design_rows(sheet& rows, const workload& work) : rows_(rows), work_(work), design_(rows.keys()) {
        made_.kind = Design::kind;
        made_.peer = Design::peer;
        made_.keys = rows.keys();
        made_.page_size = design_.pages();
        made_.bits_per_key = bits_per_key(design_.size_bytes(), rows.keys());
        made_.fpr_promised = design_.promised(rows.keys());

        for (const auto key : work_.present.all()) design_.add(key);
        made_.fpr_measured = rate_of([&](auto key) { return design_.has(key); }, work_.absent.all());
    }

    void insert() {
        if (row out = like("insert"); rows_.wants(out.name)) {
            out.note = "fresh 16-byte keys, hashing included; thread CPU time";
            rows_.measure(
                out, rows_.keys(), [&] { design_.clear(); },
                [&] {
                    return timed([&] {
                        for (const auto key : work_.present.all()) design_.add(key);
                    });
                });
        }
        if constexpr (requires { design_.filter.add_batch(work_.mixed); }) {
            if (row out = like("insert_batch"); rows_.wants(out.name)) {
                out.note = "the same, handed over as one batch; thread CPU time";
                rows_.measure(
                    out, rows_.keys(), [&] { design_.clear(); },
                    [&] { return timed([&] { use(design_.filter.add_batch(work_.present.all())); }); });
            }
        }
    }

    void lookup() {
        if (row out = like("lookup"); rows_.wants(out.name)) {
            out.hit_ratio = 0.5;
            out.note = "half of the keys are there, in no order; thread CPU time";
            rows_.measure(out, work_.mixed.size(), nullptr, [&] {
                return timed([&] {
                    std::size_t found = 0;
                    for (const auto key : work_.mixed) found += design_.has(key);
                    use(found);
                });
            });
        }
        if constexpr (requires { design_.filter.add_batch(work_.mixed); }) {
            if (row out = like("lookup_batch"); rows_.wants(out.name)) {
                out.hit_ratio = 0.5;
                out.note = "the same, handed over as one batch; thread CPU time";
                const auto answers = std::make_unique<bool[]>(work_.mixed.size());
                const std::span<bool> all(answers.get(), work_.mixed.size());
                rows_.measure(out, work_.mixed.size(), nullptr, [&] {
                    return timed([&] { use(design_.filter.may_contain(work_.mixed, all)); });
                });
            }
        }
    }

    // Each thread adds keys of its own, and asks for one after each add.
    void mix() {
        row out = like("mix");
        if (!rows_.wants(out.name)) return;
        out.threads = rows_.threads();
        out.hit_ratio = 0.5;
        out.note = "one add and one lookup in turn on all cores; wall clock times threads";
        const std::uint64_t each = rows_.keys() / rows_.threads();
        rows_.measure(
            out, 2 * each * rows_.threads(), [&] { design_.clear(); },
            [&] {
                return timed_together(rows_.threads(), [&](unsigned thread) {
                    const auto fresh = work_.present.part(thread, rows_.threads());
                    const std::string_view* const asked = work_.mixed.data() + thread * each;
                    std::size_t found = 0;
                    for (std::uint64_t i = 0; i < each; ++i) {
                        design_.add(fresh[i]);
                        found += design_.has(asked[i / 2]);
                    }
                    use(found);
                });
            });
    }

  private:
    row like(const char* op) const {
        row out = made_;
        out.name = std::string("tutorial.") + op + '.' + Design::name;
        out.op = op;
        return out;
    }

    sheet& rows_;
    const workload& work_;
    Design design_;
    row made_;
};

bool any_wanted(const sheet& rows) {
    for (const char* op : {"insert", "insert_batch", "lookup", "lookup_batch", "mix"})
        for (const char* name : {text_design::name, atomic_filter::name, plain_filter::name})
            if (rows.wants(std::string("tutorial.") + op + '.' + name)) return true;
    return false;
}

} // namespace

void string_rows(sheet& rows) {
    if (!any_wanted(rows)) return;
    const workload work(rows.keys());
    design_rows<text_design> text(rows, work);
    design_rows<atomic_filter> atomic(rows, work);
    design_rows<plain_filter> plain(rows, work);
    const auto fill_and_ask = [](auto& design) {
        design.lookup(); // before insert clears it
        design.insert();
    };
    fill_and_ask(text);
    fill_and_ask(atomic);
    fill_and_ask(plain);
    text.mix();
    atomic.mix();
}

} // namespace bench::tutorial
