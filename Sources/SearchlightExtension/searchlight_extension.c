/* SPDX-License-Identifier: Apache-2.0 */
/* The target consists of its header. A C target needs at least one source file. */
#include "searchlight_extension.h"
