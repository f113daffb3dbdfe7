// Every processor that a C++ compiler knows.

#include "channel.h"
#include "describe.h"
#include "follow.h"
#include "moments.h"
#include "standout.h"

namespace wavetell {
namespace {

const Signals signals = {"portable", describe, standout, reorder, follow, settle, channel, moments, apart};

}  // namespace

const Signals* const portable_signals = &signals;

}  // namespace wavetell
