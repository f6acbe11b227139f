/* SPDX-License-Identifier: Apache-2.0 */
/* searchlight.changes/1: changed files. */
#ifndef SEARCHLIGHT_EXTENSION_CHANGES_H
#define SEARCHLIGHT_EXTENSION_CHANGES_H

#include "../basics.h"
#include "../entry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a change. Ignore changes with any other value. */
typedef int32_t searchlight_change_kind;
SEARCHLIGHT_CONSTANTS(int32_t) {
    SEARCHLIGHT_CHANGED = 1, /* the file is new, or its content or mode has changed */
    SEARCHLIGHT_MOVED = 2,   /* the file has a new path, and its content may have changed too */
    SEARCHLIGHT_REMOVED = 3, /* there is no longer a file at the path */
};

/* One changed file. */
typedef struct searchlight_change {
    uint32_t size; /* sizeof(searchlight_change) of the host */
    searchlight_change_kind kind;
    const char *path;          /* absolute; for a moved file, the new path */
    const char *previous_path; /* nullable; for a moved file, the old path */
} searchlight_change;

/* Updates the items of changed files. Hosts of version 0.1 never use this interface. They request
 * items or everything instead, as every host does for an extension without it. */
#define SEARCHLIGHT_EXTENSION_CHANGES "searchlight.changes/1"
typedef struct searchlight_extension_changes {
    uint32_t size;
    uint32_t reserved; /* 0 */

    /* Donates, updates or deletes the items of these files, then finishes once the last change is
     * durable. Read the current state of each file, because more may have changed since. The host
     * asks again after a request that was not finished (crash, time limit), perhaps with other
     * changes. Ignore files without items.
     *
     * changes: at most 256, valid until the function returns.
     * Answer with finish. Time limit: 30 min. [request-thread] */
    void (*update_files)(searchlight_extension *extension, searchlight_request request,
                         const searchlight_change *const *changes, size_t count);
} searchlight_extension_changes;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_EXTENSION_CHANGES_H */
