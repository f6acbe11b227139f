/* SPDX-License-Identifier: Apache-2.0 */
#include "levels.h"

/*
 * Each check names all instructions for which a kernel file is compiled. __builtin_cpu_supports
 * also checks that the operating system saves the registers.
 */
const struct cembedding_kernels *cembedding_kernels_at(enum cembedding_level level) {
    switch (level) {
    case CEMBEDDING_PORTABLE:
        return &cembedding_portable;
#if defined(__x86_64__)
    case CEMBEDDING_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt")
            ? &cembedding_avx2
            : NULL;
    case CEMBEDDING_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt")
            ? &cembedding_avx512
            : NULL;
#elif defined(__aarch64__)
    /* Every 64-bit ARM processor has these instructions. */
    case CEMBEDDING_NEON:
        return &cembedding_neon;
#endif
    default:
        return NULL;
    }
}

static size_t padded(size_t count) { return (count + CEMBEDDING_PANEL - 1) / CEMBEDDING_PANEL * CEMBEDDING_PANEL; }

size_t cembedding_linear_scratch(size_t depth) { return MOST_TILE_PANELS * CEMBEDDING_PANEL * depth; }

size_t cembedding_attention_scratch(size_t count, size_t size) { return (size + MOST_TILE_ROWS) * padded(count); }
