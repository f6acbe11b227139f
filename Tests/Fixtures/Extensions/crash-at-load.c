/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: crashes while the dynamic linker loads it. */
#include "fixture.h"

__attribute__((constructor)) static void crash(void) {
    fputs("about to crash\n", stderr);
    raise(SIGSEGV);
}
