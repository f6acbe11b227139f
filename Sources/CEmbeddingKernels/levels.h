/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of kernels, one for each level of instructions. Each table is defined in a separate
 * file. */
#ifndef SEARCHLIGHT_CEMBEDDINGKERNELS_LEVELS_H
#define SEARCHLIGHT_CEMBEDDINGKERNELS_LEVELS_H

#include "cembeddingkernels.h"

/* The maximum numbers of rows and panels that a level computes at once. */
enum { MOST_TILE_ROWS = 12, MOST_TILE_PANELS = 2 };

extern const struct cembedding_kernels cembedding_portable;
#if defined(__x86_64__)
extern const struct cembedding_kernels cembedding_avx2, cembedding_avx512;
#elif defined(__aarch64__)
extern const struct cembedding_kernels cembedding_neon;
#endif

#endif
