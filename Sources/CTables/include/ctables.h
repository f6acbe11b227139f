/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are data: text files of this folder, part of the program as they stand. Each line ends with a line feed. */
#ifndef SEARCHLIGHT_CTABLES_H
#define SEARCHLIGHT_CTABLES_H

#include <stddef.h>
#include <stdint.h>

/* A text that lives as long as the program. */
struct ctables_text {
    const uint8_t *start;
    size_t count;
};

/* The uniform types that Apple's systems export, that they import, and those declared elsewhere; UNIFORM-TYPES.md. */
struct ctables_text ctables_exported_types(void);
struct ctables_text ctables_imported_types(void);
struct ctables_text ctables_other_types(void);

/* MIME types of the desktop and the uniform types that Apple's systems know them by, where no tag says so. */
struct ctables_text ctables_mime_names(void);

/* The public kMDItem… names, and for each the attribute that names the same concept. */
struct ctables_text ctables_attribute_keys(void);

/* The properties of an attribute set, and for each the kind of its value: a case of AttributeValueKind. */
struct ctables_text ctables_attribute_kinds(void);

#endif
