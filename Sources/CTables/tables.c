/* SPDX-License-Identifier: Apache-2.0 */
#include "ctables.h"

/* #embed is part of C23, and a compiler extension in earlier standards. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t exported_types[] = {
#embed "types-exported.txt"
};
static const uint8_t imported_types[] = {
#embed "types-imported.txt"
};
static const uint8_t other_types[] = {
#embed "types-elsewhere.txt"
};
static const uint8_t mime_names[] = {
#embed "mime-names.txt"
};
static const uint8_t attribute_keys[] = {
#embed "attribute-keys.txt"
};
static const uint8_t attribute_kinds[] = {
#embed "attribute-kinds.txt"
};

#define TEXT(name) \
    struct ctables_text ctables_##name(void) { return (struct ctables_text){name, sizeof name}; }

TEXT(exported_types)
TEXT(imported_types)
TEXT(other_types)
TEXT(mime_names)
TEXT(attribute_keys)
TEXT(attribute_kinds)
