/* SPDX-License-Identifier: Apache-2.0 */
/* state.h: bytes that outlive a worker. They are stored as client states of indexes without items.
 * If the store loses items, it also deletes these bytes. Both functions wait for the host. */
#ifndef STATE_H
#define STATE_H

#include "extension.h"

/* Reads a state. `length` is 0 if there is none, or if it is longer than `capacity`. Returns false
 * on failure. */
bool state_read(const searchlight_extension *self, const char *index_name, void *bytes, size_t capacity, size_t *length);
/* Stores a state of at most SEARCHLIGHT_CLIENT_STATE_MAX bytes. Returns false on failure. */
bool state_write(const searchlight_extension *self, const char *index_name, const void *bytes, size_t length);

#endif
