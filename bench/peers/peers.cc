#include "peers.h"

#include "../subjects/lists.h"

#include <array>

namespace bench {

std::span<const subject_type> peer_subjects() {
    static const std::array peers{tutorial_peer(), dynamic_bloom_peer(), libbloom_peer(), boost_fmb64_peer(),
                                  boost_fmb32_peer()};
    return peers;
}

} // namespace bench
