/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 16 numbers, which the compiler divides into the level's registers. Part of
 * kernels.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Vectors are only passed to inlined functions, so the calling convention does not matter. */
#pragma clang diagnostic ignored "-Wpsabi"
/* Only multiply_add fuses operations, so that results do not depend on the compiler. */
#pragma STDC FP_CONTRACT OFF

enum { LANES = CEMBEDDING_PANEL };

typedef float floats __attribute__((ext_vector_type(16)));
typedef int32_t ints __attribute__((ext_vector_type(16)));
typedef int8_t bytes __attribute__((ext_vector_type(16)));
typedef uint16_t shorts __attribute__((ext_vector_type(16)));
typedef floats loose_floats __attribute__((aligned(1)));
typedef bytes loose_bytes __attribute__((aligned(1)));
typedef shorts loose_shorts __attribute__((aligned(1)));

#define INLINE static inline __attribute__((always_inline))

INLINE floats load(const float *from) { return *(const loose_floats *)from; }

INLINE void store(float *to, floats value) { *(loose_floats *)to = value; }

INLINE floats splat(float value) { return (floats)(value); }

INLINE floats as_floats(ints bits) { return (floats)bits; }

INLINE ints as_ints(floats value) { return (ints)value; }

/* a * b + c */
INLINE floats multiply_add(floats a, floats b, floats c) {
#if FUSED
    return __builtin_elementwise_fma(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE floats larger(floats a, floats b) { return a > b ? a : b; }

INLINE floats smaller(floats a, floats b) { return a < b ? a : b; }

/* Returns the sum of all lanes, always added in the same order. */
INLINE float sum_of(floats value) {
    typedef float half __attribute__((ext_vector_type(8)));
    typedef float quarter __attribute__((ext_vector_type(4)));
    half a = value.lo + value.hi;
    quarter b = a.lo + a.hi;
    return (b.x + b.z) + (b.y + b.w);
}

INLINE float largest_of(floats value) {
    float largest = value[0];
    for (int lane = 1; lane < LANES; lane++) largest = value[lane] > largest ? value[lane] : largest;
    return largest;
}

/* Returns 16 elements of a row as floats, without the row's scale. */
INLINE floats load_elements(const void *elements, size_t index, enum cembedding_form form) {
    switch (form) {
    case CEMBEDDING_FLOAT32:
        return *(const loose_floats *)((const char *)elements + index * 4);
    case CEMBEDDING_BFLOAT16: {
        ints bits = __builtin_convertvector(*(const loose_shorts *)((const char *)elements + index * 2), ints);
        return as_floats(bits << 16);
    }
    case CEMBEDDING_FLOAT16: {
        ints bits = __builtin_convertvector(*(const loose_shorts *)((const char *)elements + index * 2), ints);
        /* The exponent has a different bias. The product is exact, even for subnormal numbers. */
        floats magnitude = as_floats((bits & 0x7FFF) << 13) * 0x1p112f;
        ints special = (bits & 0x7C00) == 0x7C00 ? (ints)(0x7F800000) : (ints)(0);
        return as_floats(as_ints(magnitude) | special | (bits & 0x8000) << 16);
    }
    default:
        return __builtin_convertvector(*(const loose_bytes *)((const char *)elements + index), floats);
    }
}
