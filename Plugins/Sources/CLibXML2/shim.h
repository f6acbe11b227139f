/* SPDX-License-Identifier: Apache-2.0 */
/* libxml2's HTML parser. */
#ifndef SEARCHLIGHT_CLIBXML2_SHIM_H
#define SEARCHLIGHT_CLIBXML2_SHIM_H
#include <libxml/HTMLparser.h>
#endif
