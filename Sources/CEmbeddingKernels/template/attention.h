/* SPDX-License-Identifier: Apache-2.0 */
/* Attention. The scores for a few queries at a time stay in the first-level cache. Part of
 * kernels.h. */

/* Replaces `count` scores with their weights, and the padding at the end of the row with 0. */
static void softmax(float *scores, size_t count, size_t padded, float factor) {
    for (size_t key = count; key < padded; key++) scores[key] = -__builtin_inff();
    floats largest = load(scores);
    for (size_t key = LANES; key < padded; key += LANES) largest = larger(largest, load(scores + key));
    floats top = splat(largest_of(largest) * factor), sum = splat(0);
    for (size_t key = 0; key < padded; key += LANES) {
        floats weight = exponential(multiply_add(load(scores + key), splat(factor), -top));
        /* Otherwise the padding would not be exactly 0. */
        if (key + LANES > count) {
            float last[LANES];
            store(last, weight);
            for (size_t lane = count - key; lane < LANES; lane++) last[lane] = 0;
            weight = load(last);
        }
        sum += weight;
        store(scores + key, weight);
    }
    floats inverse = splat(1 / sum_of(sum));
    for (size_t key = 0; key < padded; key += LANES) store(scores + key, load(scores + key) * inverse);
}

/* Multiplies a few rows with `width` columns of b, where `width` is a multiple of 16. */
static void multiply_columns(struct tile tile, size_t rows, size_t width) {
    for (size_t panels; width > 0; width -= panels * LANES) {
        panels = width / LANES > TILE_PANELS ? TILE_PANELS : width / LANES;
        multiply_tile(&tile, rows, panels);
        tile.b += panels * LANES;
        tile.y += panels * LANES;
    }
}

static void attention(const float *qkv, size_t count, size_t heads, size_t size, float *y, float *scratch) {
    size_t width = heads * size, stride = 3 * width, padded = (count + LANES - 1) / LANES * LANES;
    /* The keys of a head, transposed, and the scores of the queries in a tile. */
    float *keys = scratch, *scores = scratch + size * padded;
    float factor = 1 / __builtin_sqrtf((float)size);
    for (size_t head = 0; head < heads; head++) {
        const float *query = qkv + head * size, *key = query + width, *value = key + width;
        for (size_t token = 0; token < padded; token++)
            for (size_t k = 0; k < size; k++)
                keys[k * padded + token] = token < count ? key[token * stride + k] : 0;
        size_t rows;
        for (size_t row = 0; row < count; row += rows) {
            rows = next_rows(count - row);
            multiply_columns(
                (struct tile){
                    .x = query + row * stride, .x_stride = stride, .b = keys, .b_step = padded, .b_panel = LANES,
                    .depth = size, .y = scores, .y_stride = padded,
                },
                rows, padded);
            for (size_t r = 0; r < rows; r++) softmax(scores + r * padded, count, padded, factor);
            multiply_columns(
                (struct tile){
                    .x = scores, .x_stride = padded, .b = value, .b_step = stride, .b_panel = LANES, .depth = count,
                    .y = y + row * width + head * size, .y_stride = width,
                },
                rows, size);
        }
    }
}
