/* SPDX-License-Identifier: Apache-2.0 */
/* Data tables: text files in this folder that are linked into the program unchanged. Each line ends
 * with a line feed. */
#ifndef SEARCHLIGHT_CTABLES_H
#define SEARCHLIGHT_CTABLES_H

#include <stddef.h>
#include <stdint.h>

/* A text that exists as long as the program. */
struct ctables_text {
    const uint8_t *start;
    size_t count;
};

/* The uniform types that Apple's systems export, those that they import, and those from other
 * sources; see docs/UNIFORM-TYPES.md. */
struct ctables_text ctables_exported_types(void);
struct ctables_text ctables_imported_types(void);
struct ctables_text ctables_other_types(void);

/* MIME types used on Linux desktops and their uniform types on Apple's systems, if no tag connects
 * the two. */
struct ctables_text ctables_mime_names(void);

/* The public kMDItem… names, each with the attribute for the same concept. */
struct ctables_text ctables_attribute_keys(void);

/* The properties of an attribute set and the kinds of their values, which are cases of
 * AttributeValueKind. */
struct ctables_text ctables_attribute_kinds(void);

#endif
