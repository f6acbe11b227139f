/* SPDX-License-Identifier: Apache-2.0 */
/* The target is its header; a C target needs one source. */
#include "searchlight_extension.h"
