// Code for an instruction set that not every processor has: BEGIN_TARGET("avx2,fma") ... END_TARGET

#pragma once

#define PRAGMA(tokens) _Pragma(#tokens)

#if defined(__clang__)
#define BEGIN_TARGET(features) PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define END_TARGET PRAGMA(clang attribute pop)
#else
#define BEGIN_TARGET(features) PRAGMA(GCC target(features))
#define END_TARGET
#endif
