// Every processor that a C++ compiler knows.

#include "describe.h"

namespace wavetell {
namespace {

const Signals signals = {"portable", describe};

}  // namespace

const Signals* const portable_signals = &signals;

}  // namespace wavetell
