// The largest single operator new of this thread since the watch began. Filters' own memory is not from there: it comes
// by mapping, whose pages cost nothing until they are touched (promises_test.cc looks at those).
#pragma once

#include <cstddef>

namespace bouncer::test {

class allocation_watch {
  public:
    allocation_watch();
    std::size_t largest() const;
};

} // namespace bouncer::test
