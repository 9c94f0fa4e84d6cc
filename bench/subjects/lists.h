// The two halves of what a shared object exports.
#pragma once

#include "../subject.h"

#include <span>

namespace bench {

std::span<const subject_type> bouncer_subjects(); // subjects/bouncer.cc
std::span<const subject_type> peer_subjects();    // peers/peers.cc

} // namespace bench
