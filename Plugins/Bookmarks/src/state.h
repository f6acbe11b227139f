/* SPDX-License-Identifier: Apache-2.0 */
/* state.h: bytes that outlive a worker, kept as client states of indexes without items. An index that loses its bookmarks
 * loses these bytes too. Both functions wait for the host. */
#ifndef STATE_H
#define STATE_H

#include "extension.h"

/* Reads one; `length` is 0 if there is none, or a longer one than fits. False if it cannot be had. */
bool state_read(const searchlight_extension *self, const char *index_name, void *bytes, size_t capacity, size_t *length);
/* Keeps one, at most SEARCHLIGHT_CLIENT_STATE_MAX bytes. False if it could not be kept. */
bool state_write(const searchlight_extension *self, const char *index_name, const void *bytes, size_t length);

#endif
