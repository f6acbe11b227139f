/* SPDX-License-Identifier: Apache-2.0 */
/* Scans over stored vectors. Part of kernels.h. */

INLINE bool is_allowed(const uint64_t *filter, size_t row) { return !filter || filter[row / 64] >> (row % 64) & 1; }

/* Returns true if the row is the first of 64 rows that the filter excludes. */
INLINE bool begins_gap(const uint64_t *filter, size_t row) { return filter && row % 64 == 0 && !filter[row / 64]; }

/* Returns true if a is the worse hit. */
INLINE bool is_worse(struct cembedding_hit a, struct cembedding_hit b) {
    return a.score < b.score || (a.score == b.score && a.row > b.row);
}

/* A heap whose first element is the worst hit. */
struct best_hits {
    struct cembedding_hit *hits;
    size_t count, wanted;
};

static void sink(struct cembedding_hit *hits, size_t count, size_t place, struct cembedding_hit hit) {
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= count) break;
        if (child + 1 < count && is_worse(hits[child + 1], hits[child])) child++;
        if (!is_worse(hits[child], hit)) break;
        hits[place] = hits[child];
        place = child;
    }
    hits[place] = hit;
}

static void rise(struct cembedding_hit *hits, size_t place, struct cembedding_hit hit) {
    while (place > 0 && is_worse(hit, hits[(place - 1) / 2])) {
        hits[place] = hits[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    hits[place] = hit;
}

INLINE void offer(struct best_hits *best, struct cembedding_hit hit) {
    if (best->count == best->wanted) {
        if (is_worse(best->hits[0], hit)) sink(best->hits, best->count, 0, hit);
    } else if (hit.score == hit.score) {
        rise(best->hits, best->count++, hit);
    }
}

/* Sorts the heap, best hit first. */
static void sort_hits(struct best_hits *best) {
    for (size_t count = best->count; count > 1; count--) {
        struct cembedding_hit worst = best->hits[0];
        sink(best->hits, count - 1, 0, best->hits[count - 1]);
        best->hits[count - 1] = worst;
    }
}

/* Compilers translate this to the instruction that multiplies pairs of 16-bit numbers and adds the
 * products. */
INLINE int32_t dot(const int8_t *row, const int16_t *query, size_t width) {
    int32_t sum = 0;
    for (size_t index = 0; index < width; index++) sum += (int32_t)row[index] * query[index];
    return sum;
}

static size_t best_rows(
    const int8_t *rows, const float *scales, size_t row_count, size_t width, const int16_t *query,
    const uint64_t *filter, const uint32_t *list, size_t list_count, struct cembedding_hit *hits, size_t wanted) {
    struct best_hits best = {.hits = hits, .wanted = wanted};
    size_t count = list ? list_count : row_count;
    for (size_t index = 0; index < count; index++) {
        size_t row = list ? list[index] : index;
        if (!list && begins_gap(filter, row)) {
            index += 63;
            continue;
        }
        if (!is_allowed(filter, row)) continue;
        if (list && index + 4 < count) {
            const char *next = (const char *)(rows + list[index + 4] * width);
            for (size_t line = 0; line < width; line += 64) __builtin_prefetch(next + line);
        }
        float score = (float)dot(rows + row * width, query, width) * scales[row];
        offer(&best, (struct cembedding_hit){score, (uint32_t)row});
    }
    sort_hits(&best);
    return best.count;
}

static void sign_codes(const int8_t *rows, size_t row_count, size_t width, uint64_t *codes) {
    for (size_t row = 0; row < row_count; row++)
        for (size_t start = 0; start < width; start += 64) {
            size_t end = width - start < 64 ? width - start : 64;
            uint64_t word = 0;
            for (size_t bit = 0; bit < end; bit++) word |= (uint64_t)(rows[row * width + start + bit] < 0) << bit;
            *codes++ = word;
        }
}

/* Rows with small distances, in ascending order. */
struct near_rows {
    uint32_t *rows;
    uint16_t *distances;
    size_t count, wanted;
    /* Only smaller distances are considered. */
    size_t limit;
};

/* Keeps the `wanted` rows with the smallest distances. */
static __attribute__((noinline)) void keep_nearest(struct near_rows *near) {
    if (near->count <= near->wanted) return;
    uint32_t counts[CEMBEDDING_VECTOR_WIDTH + 1] = {0};
    for (size_t index = 0; index < near->count; index++) counts[near->distances[index]]++;
    size_t limit = 0, below = 0;
    while (below + counts[limit] < near->wanted) below += counts[limit++];
    size_t at_limit = near->wanted - below, kept = 0;
    for (size_t index = 0; index < near->count; index++) {
        uint16_t distance = near->distances[index];
        if (distance > limit || (distance == limit && at_limit == 0)) continue;
        if (distance == limit) at_limit--;
        near->rows[kept] = near->rows[index];
        near->distances[kept++] = distance;
    }
    near->count = kept;
    near->limit = limit;
}

INLINE void search_codes(
    struct near_rows *near, const uint64_t *codes, size_t row_count, const size_t words, const uint64_t *query,
    const uint64_t *filter) {
    size_t capacity = 2 * near->wanted + 1024;
    for (size_t row = 0; row < row_count; row++) {
        if (begins_gap(filter, row)) {
            row += 63;
            continue;
        }
        if (!is_allowed(filter, row)) continue;
        const uint64_t *code = codes + row * words;
        size_t distance = 0;
        for (size_t word = 0; word < words; word++) distance += (size_t)__builtin_popcountll(code[word] ^ query[word]);
        if (distance >= near->limit) continue;
        if (near->count == capacity) {
            keep_nearest(near);
            if (distance >= near->limit) continue;
        }
        near->rows[near->count] = (uint32_t)row;
        near->distances[near->count++] = (uint16_t)distance;
    }
}

static size_t nearest_codes(
    const uint64_t *codes, size_t row_count, size_t words, const uint64_t *query, const uint64_t *filter,
    uint32_t *rows, uint16_t *distances, size_t wanted) {
    struct near_rows near = {.rows = rows, .distances = distances, .wanted = wanted, .limit = SIZE_MAX};
    /* A constant number of words needs no loop. The usual width is 384. */
    if (words == 6)
        search_codes(&near, codes, row_count, 6, query, filter);
    else
        search_codes(&near, codes, row_count, words, query, filter);
    keep_nearest(&near);
    return near.count;
}
