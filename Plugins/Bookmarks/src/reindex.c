/* SPDX-License-Identifier: Apache-2.0 */
/* reindex.c: donates bookmarks as items, in pages and by identifier. */
#include "donation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Donates the page after `cursor`. On failure, fails the request and returns NULL. The caller
 * discards the donation. Sets `is_missing` if a source could not be read. */
static struct donation *donate_page(struct task *task, const char *cursor, size_t items, double seconds, bool *is_missing) {
    searchlight_extension *self = task->extension;
    if (!donation_pace(task, 0)) return NULL;
    /* The digests from the last file change do not cover these bookmarks. */
    if (*cursor == 0) changes_forget(self);
    struct donation *donation = donation_create(task, donation_budget(self, items));
    if (donation == NULL) return NULL;
    /* Later pages continue with the first page's state, so that all pages are consistent. */
    if (!task_take_library(task, NULL, *cursor != 0)) {
        donation_discard(donation);
        return NULL;
    }
    donation->deadline = donation_now() + seconds;
    bool is_good = *cursor != 0 || omissions_report(self);
    is_good = is_good && library_list(self->library, cursor, donation_collect, donation);
    struct problem missing = {""};
    *is_missing = library_missing(self->library) != NULL;
    if (*is_missing) problem_set(&missing, "%s", library_missing(self->library));
    /* This reindex will delete nothing at its end. However, if this page contains all bookmarks of
     * the other sources, the other items of those sources can be deleted. */
    if (is_good && *is_missing && *cursor == 0 && !donation->is_full && self->batch != NULL)
        is_good = library_sources(self->library, donation_collect_domain, donation);
    library_unlock(self->library);
    if (!is_good) task_fail(task, SEARCHLIGHT_FAILED, "the list of bookmarks cannot be read");
    is_good = is_good && donation_send(task, donation) && donation_pace(task, donation->count);
    if (is_good && !donation->is_full && library_lock(self->library, &task->work)) {
        exported_keep(self);
        library_unlock(self->library);
        changes_forget(self);
    }
    /* After the last page, the end of the reindex would delete items, and the bookmarks of the
     * missing source are unknown. */
    if (is_good && *is_missing && !donation->is_full) {
        is_good = false;
        task_fail(task, SEARCHLIGHT_UNAVAILABLE, "%s; its bookmarks stay as they were, the others are up to date%s",
                  missing.text, donation->domain_count > 0 ? "" : ", but none was deleted");
    }
    if (is_good) return donation;
    donation_discard(donation);
    return NULL;
}

static void reindex_page(searchlight_extension *self, searchlight_request request, const searchlight_page *page) {
    struct task task;
    char cursor[SEARCHLIGHT_CURSOR_MAX + 1] = "";
    task_begin(&task, self, request);
    if (page->cursor != NULL && page->cursor_length < sizeof cursor) memcpy(cursor, page->cursor, page->cursor_length);
    bool is_first = *cursor == 0, is_missing;
    struct donation *donation = donate_page(&task, cursor, page->items, page->milliseconds / 1e3, &is_missing);
    /* A reindex that fails must fail in its first page. With a cursor, if the missing source is
     * readable by then, the next attempt would skip the source's earlier bookmarks, and its end
     * would delete their items. */
    while (donation != NULL && is_first && is_missing && donation->is_full) {
        memcpy(cursor, donation->last, sizeof donation->last);
        donation_discard(donation);
        donation = donate_page(&task, cursor, MAX_ITEMS, 60, &is_missing);
    }
    if (donation == NULL) return;
    if (donation->is_full) self->requests->finish_page(self->host, request, donation->last, strlen(donation->last));
    else self->requests->finish_page(self->host, request, NULL, 0);
    donation_discard(donation);
}

/* The reindex for hosts without the paging interface. */
static void reindex_all(searchlight_extension *self, searchlight_request request) {
    struct task task;
    char cursor[MAX_KEY + MAX_LOCAL + 2] = "";
    task_begin(&task, self, request);
    /* These items can be found until the acknowledgement. Items that are donated again are kept. */
    searchlight_status sent = self->index->delete_all(self->host, NULL, NULL, NULL);
    if (sent != SEARCHLIGHT_OK) {
        task_fail(&task, sent, "the bookmarks could not be sent");
        return;
    }
    for (bool has_more = true, is_missing; has_more;) {
        struct donation *donation = donate_page(&task, cursor, MAX_ITEMS, 60, &is_missing);
        if (donation == NULL) return;
        has_more = donation->is_full;
        memcpy(cursor, donation->last, sizeof cursor);
        donation_discard(donation);
    }
    self->requests->finish(self->host, request, SEARCHLIGHT_OK, NULL);
}

/* Donates the named bookmarks that exist, and deletes the items of the others. On failure, fails
 * the request and returns false. */
static bool reindex_some(struct task *task, const char *const *identifiers, size_t count, bool *is_missing) {
    searchlight_extension *self = task->extension;
    const char *gone[MAX_ITEMS / 4];
    size_t gone_count = 0;
    struct donation *donation = donation_create(task, MAX_ITEMS);
    if (donation == NULL) return false;
    if (!library_lock(self->library, &task->work)) {
        donation_discard(donation);
        task_fail(task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!library_find(self->library, identifiers[i], true, donation_collect, donation)) gone[gone_count++] = identifiers[i];
    *is_missing = library_missing(self->library) != NULL;
    library_unlock(self->library);
    size_t donated = donation->count;
    bool is_good = donation_send(task, donation);
    donation_discard(donation);
    /* If a source is unreadable, it is unknown which of its bookmarks were deleted, so nothing is
     * deleted. */
    if (is_good && !*is_missing) is_good = donation_delete(task, gone, gone_count);
    return is_good && donation_pace(task, donated);
}

static void reindex_items(searchlight_extension *self, searchlight_request request, const char *const *identifiers,
                          size_t count) {
    struct task task;
    bool is_missing = false;
    task_begin(&task, self, request);
    if (!donation_pace(&task, 0)) return;
    changes_forget(self);
    if (!task_take_library(&task, NULL, false)) return;
    library_unlock(self->library);
    for (size_t done = 0; done < count;) {
        size_t some = count - done < MAX_ITEMS / 4 ? count - done : MAX_ITEMS / 4;
        if (!reindex_some(&task, identifiers + done, some, &is_missing)) return;
        done += some;
        if (!task.work.goes_on(task.work.context, done, count)) {
            task_fail(&task, SEARCHLIGHT_CANCELLED, "the reindex was cancelled");
            return;
        }
    }
    if (is_missing) task_fail(&task, SEARCHLIGHT_UNAVAILABLE, "a file with bookmarks cannot be read now; the request is repeated");
    else self->requests->finish(self->host, request, SEARCHLIGHT_OK, NULL);
}

const searchlight_extension_reindex reindex_interface = {sizeof reindex_interface, 0, reindex_all, reindex_items};
const searchlight_extension_paging paging_interface = {sizeof paging_interface, 0, reindex_page};
