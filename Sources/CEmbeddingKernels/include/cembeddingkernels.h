/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a BERT encoder and of scans over stored vectors (docs/SEMANTIC.md), for one
 * thread.
 *
 * Every function is a member of a table. Each table is compiled for one instruction level, and
 * cembedding_kernels_at() returns a table only if this processor has the instructions. All
 * functions are thread-safe: they write only to their results and their scratch memory, which must
 * not overlap with other arguments. Arguments need only the alignment of their types.
 */
#ifndef SEARCHLIGHT_CEMBEDDINGKERNELS_H
#define SEARCHLIGHT_CEMBEDDINGKERNELS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* The width of a panel. The widths of matrices, heads and vectors are multiples of it. */
enum { CEMBEDDING_PANEL = 16 };
/* The number of elements in a row that share one scale in the form INT8_PANELS. */
enum { CEMBEDDING_GROUP = 64 };
/* The maximum value in a quantized query for cembedding_kernels.best_rows. */
enum { CEMBEDDING_QUERY_PEAK = 4095 };
/* The maximum width of a stored vector. The sum of a dot product then still fits into 32 bits. */
enum { CEMBEDDING_VECTOR_WIDTH = 4096 };

/* An instruction level. */
enum cembedding_level { CEMBEDDING_PORTABLE, CEMBEDDING_AVX2, CEMBEDDING_AVX512, CEMBEDDING_NEON };

/*
 * The storage form of a matrix. All forms except INT8_PANELS are stored row by row, as in a
 * safetensors file. INT8_ROWS has one scale per row. INT8_PANELS has the elements of 16 rows side
 * by side: first element 0 of rows 0 to 15, then element 1 of these rows, and so on. Its scales are
 * in the same order, one per row and group of 64 columns.
 */
enum cembedding_form {
    CEMBEDDING_FLOAT32,
    CEMBEDDING_FLOAT16,
    CEMBEDDING_BFLOAT16,
    CEMBEDDING_INT8_ROWS,
    CEMBEDDING_INT8_PANELS
};

/* A weight matrix. The caller owns the memory. */
struct cembedding_matrix {
    /* rows * columns elements; may be unaligned. */
    const void *elements;
    /* The scales for the int8 forms, otherwise NULL. */
    const float *_Nullable scales;
    size_t rows, columns;
    enum cembedding_form form;
};

/* A row in the store and its score. */
struct cembedding_hit {
    float score;
    uint32_t row;
};

struct cembedding_kernels {
    enum cembedding_level level;
    /* "portable", "avx2", "avx512" or "neon". */
    const char *name;

    /* Adds row `row` of a matrix to y[0..<columns]. Not available for panels. */
    void (*add_row)(const struct cembedding_matrix *matrix, size_t row, float *y);
    /*
     * y[i][n] = bias[n] + sum over k of x[i][k] * weights[n][k], for i in 0..<count and n in
     * 0..<weights->rows. weights->rows is a multiple of 16. x has weights->columns columns.
     * scratch: cembedding_linear_scratch() floats.
     */
    void (*linear)(
        const float *x, size_t count, const struct cembedding_matrix *weights, const float *bias, float *y,
        size_t y_stride, float *scratch);
    /*
     * The attention of all heads in one layer, without a mask. A row of `qkv` has a token's query,
     * key and value, each with heads * size floats. A row of y has heads * size floats. size is a
     * multiple of 16. scratch: cembedding_attention_scratch() floats.
     */
    void (*attention)(const float *qkv, size_t count, size_t heads, size_t size, float *y, float *scratch);
    /* x = layer norm of (x + addend), row by row. addend may be NULL. width is a multiple of 16. */
    void (*add_layer_norm)(
        float *x, const float *_Nullable addend, size_t count, size_t width, const float *gain, const float *shift,
        float epsilon);
    /* x = 0.5 x (1 + erf(x / sqrt(2))). count is a multiple of 16. */
    void (*gelu)(float *x, size_t count);

    /*
     * Finds the rows with the highest scores: the dot product of the row and the query, times the
     * row's scale. Rows with equal scores are in row order. Rows whose score is not a number are
     * skipped.
     *
     * - rows: row_count * width numbers from -127 to 127; width is a multiple of 16, at most
     *   CEMBEDDING_VECTOR_WIDTH.
     * - query: width numbers within CEMBEDDING_QUERY_PEAK.
     * - filter: a bit for each row, lowest bit first; rows whose bit is 0 are skipped. NULL allows
     *   all rows.
     * - list: the rows to score, each below row_count; NULL scores all rows.
     * - hits: memory for `wanted` hits; `wanted` is at least 1.
     *
     * Returns the number of hits, best first.
     */
    size_t (*best_rows)(
        const int8_t *rows, const float *scales, size_t row_count, size_t width, const int16_t *query,
        const uint64_t *_Nullable filter, const uint32_t *_Nullable list, size_t list_count, struct cembedding_hit *hits, size_t wanted);
    /* Writes the sign code of each row: bit i is 1 if element i is negative. A code has (width +
     * 63) / 64 words. */
    void (*sign_codes)(const int8_t *rows, size_t row_count, size_t width, uint64_t *codes);
    /*
     * Finds the `wanted` rows whose codes have the smallest Hamming distance to the query's code.
     * For equal distances, the first rows are chosen. A code has 1 to CEMBEDDING_VECTOR_WIDTH / 64
     * words. rows and distances have memory for 2 * wanted + 1024 elements. Returns the number of
     * rows, in ascending order.
     */
    size_t (*nearest_codes)(
        const uint64_t *codes, size_t row_count, size_t words, const uint64_t *query, const uint64_t *_Nullable filter,
        uint32_t *rows, uint16_t *distances, size_t wanted);
};

/* Returns the kernels for a level; NULL if they are not compiled in, or if this processor cannot
 * run them. Thread-safe. */
const struct cembedding_kernels *_Nullable cembedding_kernels_at(enum cembedding_level level);

/* Returns the number of scratch floats that `linear` needs for a depth (weights->columns). */
size_t cembedding_linear_scratch(size_t depth);
/* Returns the number of scratch floats that `attention` needs for a number of tokens and a head
 * size. */
size_t cembedding_attention_scratch(size_t count, size_t size);

#pragma clang assume_nonnull end

#endif
