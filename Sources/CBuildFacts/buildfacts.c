/* SPDX-License-Identifier: Apache-2.0 */
#include "cbuildfacts.h"

#ifndef SEARCHLIGHT_COMMIT
#define SEARCHLIGHT_COMMIT ""
#endif

const char *searchlight_commit(void) { return SEARCHLIGHT_COMMIT; }
