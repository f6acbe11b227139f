/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels for one level. A level's file defines LEVEL, LEVEL_NAME, LEVEL_TABLE, TILE_ROWS,
 * TILE_PANELS and FUSED, selects the instructions, and includes this file once.
 *
 * All levels add in the same order: a dot product has one sum, and a sum over a row has 16 partial
 * sums. Levels with fused operations therefore give identical bits, whatever the length of their
 * registers.
 */
#include "vectors.h"

#include "product.h"

#include "elementwise.h"

#include "attention.h"

#include "scan.h"

const struct cembedding_kernels LEVEL_TABLE = {
    .level = LEVEL,
    .name = LEVEL_NAME,
    .add_row = add_row,
    .linear = linear,
    .attention = attention,
    .add_layer_norm = add_layer_norm,
    .gelu = gelu,
    .best_rows = best_rows,
    .sign_codes = sign_codes,
    .nearest_codes = nearest_codes,
};
