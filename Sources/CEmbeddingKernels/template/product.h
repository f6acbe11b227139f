/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products. Part of kernels.h. */

static void add_row(const struct cembedding_matrix *matrix, size_t row, float *y) {
    size_t start = row * matrix->columns;
    floats scale = splat(matrix->scales ? matrix->scales[row] : 1);
    for (size_t column = 0; column < matrix->columns; column += LANES) {
        floats elements = load_elements(matrix->elements, start + column, matrix->form);
        store(y + column, multiply_add(elements, scale, load(y + column)));
    }
}

/*
 * The product of a few rows of x with panels of b: y[r][p * 16 + c] = sum over k of x[r][k] *
 * b[k][p][c]. A product is computed in parts of k. If `adds` is true, the sums start with the
 * values in y. In the last part, `bias` has the bias for each column; otherwise, or without a bias,
 * it is NULL.
 */
struct tile {
    const float *x;
    size_t x_stride;
    /* b_step is the distance from one k to the next, b_panel that from one panel to the next. */
    const float *b;
    size_t b_step, b_panel;
    size_t depth;
    float *y;
    size_t y_stride;
    const float *bias;
    bool adds;
};

INLINE void multiply(const struct tile *tile, const size_t rows, const size_t panels) {
    floats sums[TILE_ROWS][TILE_PANELS];
#pragma unroll
    for (size_t r = 0; r < rows; r++)
#pragma unroll
        for (size_t p = 0; p < panels; p++)
            sums[r][p] = tile->adds ? load(tile->y + r * tile->y_stride + p * LANES) : splat(0);

    const float *x = tile->x, *b = tile->b;
    size_t x_stride = tile->x_stride, b_step = tile->b_step, b_panel = tile->b_panel;
    for (size_t left = tile->depth; left > 0; left--) {
        floats columns[TILE_PANELS];
#pragma unroll
        for (size_t p = 0; p < panels; p++) columns[p] = load(b + p * b_panel);
#pragma unroll
        for (size_t r = 0; r < rows; r++) {
            floats element = splat(x[r * x_stride]);
#pragma unroll
            for (size_t p = 0; p < panels; p++) sums[r][p] = multiply_add(element, columns[p], sums[r][p]);
        }
        x++;
        b += b_step;
    }

#pragma unroll
    for (size_t p = 0; p < panels; p++) {
        size_t column = p * LANES;
        floats bias = tile->bias ? load(tile->bias + column) : splat(0);
#pragma unroll
        for (size_t r = 0; r < rows; r++) store(tile->y + r * tile->y_stride + column, sums[r][p] + bias);
    }
}

/* Compiles one variant for each number of rows, so that the sums stay in registers. */
INLINE void multiply_panels(const struct tile *tile, size_t rows, const size_t panels) {
    switch (rows) {
#define ROWS(count) \
    case count: multiply(tile, count, panels); break
        ROWS(1);
        ROWS(2);
#if TILE_ROWS > 2
        ROWS(3);
        ROWS(4);
        ROWS(5);
        ROWS(6);
#endif
#if TILE_ROWS > 6
        ROWS(7);
        ROWS(8);
        ROWS(9);
        ROWS(10);
        ROWS(11);
        ROWS(12);
#endif
#undef ROWS
    }
}

/* rows is at most TILE_ROWS, panels at most TILE_PANELS. */
static __attribute__((noinline)) void multiply_tile(const struct tile *tile, size_t rows, size_t panels) {
#if TILE_PANELS > 1
    if (panels == 2) return multiply_panels(tile, rows, 2);
#endif
    (void)panels;
    multiply_panels(tile, rows, 1);
}

/*
 * Copies a part of 16 weight rows side by side: panel[k][r] = weights[row + r][from + k]. `from` is
 * a multiple of CEMBEDDING_GROUP.
 */
static void unpack_panel(const struct cembedding_matrix *weights, size_t row, size_t from, size_t depth, float *panel) {
    size_t columns = weights->columns;
    if (weights->form == CEMBEDDING_INT8_PANELS) {
        const int8_t *elements = (const int8_t *)weights->elements + row * columns + from * LANES;
        size_t groups = (columns + CEMBEDDING_GROUP - 1) / CEMBEDDING_GROUP;
        const float *scales = weights->scales + row * groups + from / CEMBEDDING_GROUP * LANES;
        for (size_t start = 0; start < depth; start += CEMBEDDING_GROUP, scales += LANES) {
            size_t end = depth - start < CEMBEDDING_GROUP ? depth : start + CEMBEDDING_GROUP;
            floats scale = load(scales);
            for (size_t k = start; k < end; k++)
                store(panel + k * LANES, load_elements(elements, k * LANES, CEMBEDDING_INT8_PANELS) * scale);
        }
        return;
    }
    float block[LANES][LANES];
    for (size_t k = 0; k < depth; k += LANES) {
        for (size_t r = 0; r < LANES; r++)
            store(block[r], load_elements(weights->elements, (row + r) * columns + from + k, weights->form));
        for (size_t c = 0; c < LANES; c++)
            for (size_t r = 0; r < LANES; r++) panel[(k + c) * LANES + r] = block[r][c];
    }
}

/* Returns the number of rows in the next tile. All tiles of a matrix have nearly the same number of
 * rows. */
INLINE size_t next_rows(size_t left) {
    size_t tiles = (left + TILE_ROWS - 1) / TILE_ROWS;
    return (left + tiles - 1) / tiles;
}

/* The part of k that is unpacked at a time: two such panels fill half of a 32 KiB first-level
 * cache. */
enum { UNPACKED_DEPTH = 128 };
_Static_assert(UNPACKED_DEPTH % CEMBEDDING_GROUP == 0, "a part begins with a group");

static void linear(
    const float *x, size_t count, const struct cembedding_matrix *weights, const float *bias, float *y,
    size_t y_stride, float *scratch) {
    size_t columns = weights->columns, width = weights->rows, panels, depth;
    for (size_t column = 0; column < width; column += panels * LANES) {
        panels = (width - column) / LANES;
        if (panels > TILE_PANELS) panels = TILE_PANELS;
        for (size_t from = 0; from < columns; from += depth) {
            depth = columns - from > UNPACKED_DEPTH ? UNPACKED_DEPTH : columns - from;
            for (size_t p = 0; p < panels; p++)
                unpack_panel(weights, column + p * LANES, from, depth, scratch + p * LANES * depth);
            size_t rows;
            for (size_t row = 0; row < count; row += rows) {
                rows = next_rows(count - row);
                struct tile tile = {
                    .x = x + row * columns + from, .x_stride = columns, .b = scratch, .b_step = LANES,
                    .b_panel = LANES * depth, .depth = depth, .y = y + row * y_stride + column, .y_stride = y_stride,
                    .bias = from + depth == columns ? bias + column : NULL, .adds = from > 0,
                };
                multiply_tile(&tile, rows, panels);
            }
        }
    }
}
