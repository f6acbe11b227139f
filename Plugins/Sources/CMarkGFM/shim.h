/* SPDX-License-Identifier: Apache-2.0 */
/* cmark-gfm and its GitHub extensions; the .pc file names both libraries. */
#ifndef SEARCHLIGHT_CMARKGFM_SHIM_H
#define SEARCHLIGHT_CMARKGFM_SHIM_H
#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
#endif
