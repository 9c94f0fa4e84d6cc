#include "hash/any_hasher.inl"

namespace bouncer {

template class basic_any_hasher<all_hashers>;

} // namespace bouncer
