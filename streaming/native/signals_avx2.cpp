// AVX2 with FMA.

#include "signals.h"
#include "target.h"

#if defined(__x86_64__)
BEGIN_TARGET("avx2,fma")

#include "describe.h"

namespace wavetell {
namespace {

const Signals signals = {"avx2", describe};

}  // namespace

const Signals* const avx2_signals = &signals;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Signals* const wavetell::avx2_signals = nullptr;
#endif
