/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML parser of libxml2. */
#ifndef SEARCHLIGHT_CLIBXML2_SHIM_H
#define SEARCHLIGHT_CLIBXML2_SHIM_H
#include <libxml/HTMLparser.h>
#endif
