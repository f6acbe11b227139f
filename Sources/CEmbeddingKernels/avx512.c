/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for x86-64-v4: 12 rows by 32 columns occupy 24 of the 32 registers of 16 floats. */
#include "levels.h"

#if defined(__x86_64__)

#define LEVEL CEMBEDDING_AVX512
#define LEVEL_NAME "avx512"
#define LEVEL_TABLE cembedding_avx512
#define TILE_ROWS 12
#define TILE_PANELS 2
#define FUSED 1

#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt"))), apply_to = function)
#include "template/kernels.h"
#pragma clang attribute pop

#endif
