/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for x86-64-v3: 6 rows by 16 columns occupy 12 of the 16 registers of 8 floats. */
#include "levels.h"

#if defined(__x86_64__)

#define LEVEL CEMBEDDING_AVX2
#define LEVEL_NAME "avx2"
#define LEVEL_TABLE cembedding_avx2
#define TILE_ROWS 6
#define TILE_PANELS 1
#define FUSED 1

#pragma clang attribute push(__attribute__((target("avx2,fma,popcnt"))), apply_to = function)
#include "template/kernels.h"
#pragma clang attribute pop

#endif
