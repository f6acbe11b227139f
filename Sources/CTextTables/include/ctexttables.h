// SPDX-License-Identifier: Apache-2.0
/*
 * The properties of Unicode scalars for the text rule (docs/TEXT.md), from one version of the
 * Unicode Character Database. Scripts/text-tables writes the tables.
 */
#ifndef SEARCHLIGHT_CTEXTTABLES_H
#define SEARCHLIGHT_CTEXTTABLES_H

#include <stdint.h>

/* The role of a scalar in the division into words: the low two bits of `flags`. */
enum { CTEXT_SEPARATOR, CTEXT_LETTER, CTEXT_SINGLE, CTEXT_MARK, CTEXT_KIND = 3 };
/*
 * COMPOSES: the scalar may combine with the one before it. CHANGES: normalization form C may change
 * it. DIVIDES: the scalar separates words, but its folded form does not.
 */
enum { CTEXT_COMPOSES = 4, CTEXT_CHANGES = 8, CTEXT_DIVIDES = 16 };

struct ctext_scalar {
    /* The offsets of the decomposed mappings in ctext_sequences; 0 if the scalar maps to itself. */
    uint16_t case_folded, plain, folded, canonical;
    uint8_t combining_class, flags;
};

/* Two scalars that compose to one. */
struct ctext_pair {
    uint32_t first, second, composed;
};

extern const char ctext_unicode_version[];
extern const uint16_t ctext_index[], ctext_blocks[];
extern const struct ctext_scalar ctext_records[];
/* The mappings, each after its length. */
extern const uint32_t ctext_sequences[];
/* Sorted by first, then by second. */
extern const struct ctext_pair ctext_pairs[];
extern const uint32_t ctext_pair_count;

/* Returns the properties of a scalar. `scalar` must be at most 0x10FFFF. */
static inline const struct ctext_scalar *ctext_of(uint32_t scalar) {
    return &ctext_records[ctext_blocks[ctext_index[scalar >> 7] << 7 | (scalar & 127)]];
}

static inline const uint32_t *ctext_sequence(uint16_t place) { return &ctext_sequences[place]; }

static inline const struct ctext_pair *ctext_pair_at(uint32_t place) { return &ctext_pairs[place]; }

#endif
