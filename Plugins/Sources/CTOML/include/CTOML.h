// SPDX-License-Identifier: Apache-2.0
#ifndef CTOML_H
#define CTOML_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a value was written as.
typedef enum { TOML_TEXT, TOML_INTEGER, TOML_REAL, TOML_FLAG, TOML_MOMENT } toml_kind;

/// Takes one value: the key it stands under, with dots between the names of tables, and its text. UTF-8, without a zero
/// byte at the end, valid until the visitor returns.
typedef void (*toml_visitor)(
    void *context, const char *key, size_t key_length, toml_kind kind, const char *text, size_t text_length);

/// Reads a document and hands each value to the visitor, those of an array one after the other. Returns 0 if it is no TOML;
/// then the visitor was not called. Its depth in the stack grows with dots in keys; see TOMLReader. Any thread.
int toml_visit(const char *document, size_t length, toml_visitor visitor, void *context);

#ifdef __cplusplus
}
#endif
#endif
