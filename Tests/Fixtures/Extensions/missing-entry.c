/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: exports no entry point. */
#include "searchlight_extension.h"

SEARCHLIGHT_EXPORT int something_else(void);
SEARCHLIGHT_EXPORT int something_else(void) { return 42; }
