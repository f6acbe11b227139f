/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: terminates the process while it is loaded. */
#include "fixture.h"

__attribute__((constructor)) static void leave(void) { exit(3); }
