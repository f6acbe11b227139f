/* SPDX-License-Identifier: Apache-2.0 */
#include "csystem.h"

#if defined(__x86_64__)
#include <nmmintrin.h>

int csystem_has_crc32c(void) { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    uint64_t wide = state, word;
    for (; size >= sizeof word; next += sizeof word, size -= sizeof word) {
        memcpy(&word, next, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    for (; size > 0; next++, size--) state = _mm_crc32_u8(state, *next);
    return state;
}
#else
int csystem_has_crc32c(void) { return 0; }

uint32_t csystem_crc32c(uint32_t state, const void *bytes, size_t size) {
    (void)bytes, (void)size;
    return state;
}
#endif
