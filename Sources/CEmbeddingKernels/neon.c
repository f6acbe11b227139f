/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for 64-bit ARM: 6 rows by 16 columns occupy 24 of the 32 registers of 4 floats. */
#include "levels.h"

#if defined(__aarch64__)

#define LEVEL CEMBEDDING_NEON
#define LEVEL_NAME "neon"
#define LEVEL_TABLE cembedding_neon
#define TILE_ROWS 6
#define TILE_PANELS 1
#define FUSED 1

#include "template/kernels.h"

#endif
