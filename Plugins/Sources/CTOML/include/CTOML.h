// SPDX-License-Identifier: Apache-2.0
#ifndef CTOML_H
#define CTOML_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The type of a value in the source.
typedef enum { TOML_TEXT, TOML_INTEGER, TOML_REAL, TOML_FLAG, TOML_MOMENT } toml_kind;

/// Receives a value: its key, with dots between table names, and its text. Both are UTF-8 without a
/// terminating zero byte and valid until the visitor returns.
typedef void (*toml_visitor)(
    void *context, const char *key, size_t key_length, toml_kind kind, const char *text, size_t text_length);

/// Parses a document and calls the visitor for each value, including each element of an array.
/// Returns 1. If the document is not TOML, returns 0 without calling the visitor. The stack depth
/// grows with the number of dots in a key; see TOMLReader. Callable on any thread.
int toml_visit(const char *document, size_t length, toml_visitor visitor, void *context);

#ifdef __cplusplus
}
#endif
#endif
