/* SPDX-License-Identifier: Apache-2.0 */
/* exported.c: remembers the exported files that contained bookmarks, across workers. */
#include "state.h"

#include <string.h>

static const char index_name[] = "exported-files";
_Static_assert(MAX_EXPORTED * sizeof(uint64_t) <= SEARCHLIGHT_CLIENT_STATE_MAX, "fits a client state");

void exported_recall(searchlight_extension *self) {
    struct exported exported = {{0}, 0};
    size_t length;
    if (self->batch == NULL || self->is_recalled) return;
    self->is_recalled = state_read(self, index_name, exported.hashes, sizeof exported.hashes, &length);
    if (!self->is_recalled) return;
    if (length % sizeof(uint64_t) == 0) exported.count = length / sizeof(uint64_t);
    self->recalled = exported;
    /* If an earlier attempt failed, this worker's own list is newer, so keep it. */
    if (library_exported(self->library)->count == 0) library_remember(self->library, &self->recalled);
}

void exported_keep(searchlight_extension *self) {
    struct exported now = *library_exported(self->library);
    size_t length = now.count * sizeof *now.hashes;
    if (!self->is_recalled ||
        (now.count == self->recalled.count && memcmp(now.hashes, self->recalled.hashes, length) == 0)) return;
    /* If the state cannot be stored, the next reindex tries again. */
    if (state_write(self, index_name, now.hashes, length)) self->recalled = now;
}
