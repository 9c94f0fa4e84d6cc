// What nearly every test includes. Only for speed: a test includes what it needs by itself.
#pragma once

#include <bouncer/all_filters.h>
#include <bouncer/any_filter.h>
#include <bouncer/keyed.h>
#include <bouncer/snapshot.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
