// AVX2 with FMA.

#include "signals.h"
#include "target.h"

#if defined(__x86_64__)
BEGIN_TARGET("avx2,fma")

#include "channel.h"
#include "describe.h"
#include "follow.h"
#include "moments.h"
#include "standout.h"

namespace wavetell {
namespace {

const Signals signals = {"avx2", describe, standout, reorder, follow, settle, channel, moments, apart};

}  // namespace

const Signals* const avx2_signals = &signals;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Signals* const wavetell::avx2_signals = nullptr;
#endif
