/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels in plain C, for every processor. They use no fused operations, which many processors
 * lack. */
#include "levels.h"

#define LEVEL CEMBEDDING_PORTABLE
#define LEVEL_NAME "portable"
#define LEVEL_TABLE cembedding_portable
#define TILE_ROWS 2
#define TILE_PANELS 1
#define FUSED 0

#include "template/kernels.h"
