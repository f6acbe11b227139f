/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c: donates or deletes the differences after a file change.
 *
 * A browser writes its database for each visited page, in most cases without changing a bookmark.
 * This worker cannot compare with an earlier state, because it may have been started for this
 * request. The host therefore stores a digest of all bookmarks, in as many parts as fit into a
 * client state. Only bookmarks in parts that differ are donated. An item in such a part is deleted
 * only if its bookmark is no longer in any file.
 */
#include "donation.h"
#include "state.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static const char index_name[] = "donated-bookmarks";
enum { PARTS = SEARCHLIGHT_CLIENT_STATE_MAX / sizeof(uint64_t) };

struct digest {
    uint64_t parts[PARTS];
};

static size_t part_of(const char *identifier) { return text_hash(TEXT_HASH, slice_of(identifier)) % PARTS; }

/* Adds a bookmark to the digest, with all fields of its item. */
static bool add_to_digest(void *context, const struct entry *entry) {
    struct digest *digest = context;
    const char *const texts[] = {entry->identifier, entry->key, entry->source, entry->url, entry->title, entry->description,
                                 entry->keyword, entry->folder, entry->tags};
    const double moments[] = {entry->added, entry->modified, entry->visited};
    uint64_t hash = TEXT_HASH;
    /* Includes the NUL, so that adjacent fields remain distinct. */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = text_hash(hash, (struct slice){texts[i], strlen(texts[i]) + 1});
    hash = text_hash(hash, (struct slice){(const char *)moments, sizeof moments});
    hash = text_hash(hash, (struct slice){(const char *)&entry->visits, sizeof entry->visits});
    digest->parts[part_of(entry->identifier)] += hash;
    return true;
}

void changes_forget(const searchlight_extension *self) {
    struct digest before;
    size_t length;
    if (state_read(self, index_name, &before, sizeof before, &length) && length > 0) state_write(self, index_name, "", 0);
}

/* The state of one request. */
struct update {
    struct task task;
    struct digest digest; /* the library's digest */
    bool differs[PARTS];
    bool is_missing; /* a source could not be read */
    struct problem missing;
    struct donation *donation;
};

/* Updates the library and finds the parts that differ from the last donation. On failure, fails the
 * request and returns false. */
static bool compare(struct update *update) {
    searchlight_extension *self = update->task.extension;
    struct digest before;
    size_t length = 0;
    if (!task_take_library(&update->task, NULL, false)) return false;
    bool is_good = omissions_report(self) && library_list(self->library, "", add_to_digest, &update->digest);
    update->is_missing = library_missing(self->library) != NULL;
    if (update->is_missing) problem_set(&update->missing, "%s", library_missing(self->library));
    library_unlock(self->library);
    if (!is_good) {
        task_fail(&update->task, SEARCHLIGHT_FAILED, "the list of bookmarks cannot be read");
        return false;
    }
    bool is_known = state_read(self, index_name, &before, sizeof before, &length) && length == sizeof before;
    bool is_other = false;
    for (size_t i = 0; i < PARTS; i++) {
        update->differs[i] = !is_known || before.parts[i] != update->digest.parts[i];
        is_other = is_other || update->differs[i];
    }
    /* The stored digests are invalid until everything has been donated. */
    if (is_other && length > 0 && !state_write(self, index_name, "", 0)) {
        task_fail(&update->task, SEARCHLIGHT_UNAVAILABLE, "the donated state cannot be stored");
        return false;
    }
    return true;
}

static bool collect_differing(void *context, const struct entry *entry) {
    struct update *update = context;
    return !update->differs[part_of(entry->identifier)] || donation_collect(update->donation, entry);
}

/* Donates the bookmarks that may differ. On failure, fails the request and returns false. */
static bool donate_differing(struct update *update) {
    struct task *task = &update->task;
    searchlight_extension *self = task->extension;
    char last[sizeof update->donation->last] = "";
    for (bool has_more = true, is_good = true; has_more;) {
        struct donation *donation = update->donation = donation_create(task, donation_budget(self, MAX_ITEMS));
        if (donation == NULL) return false;
        is_good = library_lock(self->library, &task->work);
        if (is_good) {
            is_good = library_list(self->library, last, collect_differing, update);
            library_unlock(self->library);
            if (!is_good) task_fail(task, SEARCHLIGHT_FAILED, "the list of bookmarks cannot be read");
        } else {
            task_fail(task, SEARCHLIGHT_CANCELLED, "the update was cancelled");
        }
        is_good = is_good && donation_send(task, donation) && donation_pace(task, donation->count);
        has_more = donation->is_full;
        memcpy(last, donation->last, sizeof last);
        donation_discard(donation);
        if (!is_good) return false;
    }
    return true;
}

/* A page of indexed items. */
struct listing {
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool has_come;
    searchlight_status status;
    char *names[SEARCHLIGHT_LISTING_MAX]; /* owned */
    size_t count;
};

static void take_listing(void *context, searchlight_status status, const char *message, const char *const *names,
                         size_t count) {
    struct listing *listing = context;
    (void)message;
    pthread_mutex_lock(&listing->mutex);
    listing->status = status;
    for (size_t i = 0; i < count && i < SEARCHLIGHT_LISTING_MAX && listing->status == SEARCHLIGHT_OK; i++) {
        listing->names[listing->count] = strdup(names[i]);
        if (listing->names[listing->count] == NULL) listing->status = SEARCHLIGHT_FAILED;
        else listing->count++;
    }
    listing->has_come = true;
    pthread_cond_signal(&listing->came);
    pthread_mutex_unlock(&listing->mutex);
}

/* Lists the items that follow a name. On failure, fails the request and returns NULL. Free the
 * result with free_listing. */
static struct listing *list(struct task *task, const char *after) {
    const searchlight_extension *self = task->extension;
    struct listing *listing = calloc(1, sizeof *listing);
    if (listing == NULL || pthread_mutex_init(&listing->mutex, NULL) != 0) {
        free(listing);
        task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
        return NULL;
    }
    pthread_cond_init(&listing->came, NULL);
    searchlight_status sent =
        self->listing->list_items(self->host, NULL, after, SEARCHLIGHT_LISTING_MAX, take_listing, listing);
    pthread_mutex_lock(&listing->mutex);
    while (sent == SEARCHLIGHT_OK && !listing->has_come) pthread_cond_wait(&listing->came, &listing->mutex);
    pthread_mutex_unlock(&listing->mutex);
    if (sent == SEARCHLIGHT_OK && listing->status == SEARCHLIGHT_OK) return listing;
    task_fail(task, SEARCHLIGHT_UNAVAILABLE, "the index does not say which bookmarks it has");
    listing->status = SEARCHLIGHT_FAILED;
    return listing;
}

static void free_listing(struct listing *listing) {
    while (listing->count > 0) free(listing->names[--listing->count]);
    pthread_cond_destroy(&listing->came);
    pthread_mutex_destroy(&listing->mutex);
    free(listing);
}

static bool is_there(void *context, const struct entry *entry) {
    (void)context, (void)entry;
    return true;
}

/* A bookmark, and whether its source is completely known. */
struct origin {
    const char *identifier;
    bool is_known;
};
static bool look_for_origin(void *context, const char *key) {
    struct origin *origin = context;
    size_t length = strlen(key);
    origin->is_known = strncmp(origin->identifier, key, length) == 0 && origin->identifier[length] == '/';
    return !origin->is_known;
}

/* Returns true if no file contains the bookmark. The library must be locked. */
static bool is_gone(const struct update *update, const char *identifier) {
    struct library *library = update->task.extension->library;
    struct origin origin = {identifier, false};
    if (!update->differs[part_of(identifier)] || library_find(library, identifier, true, is_there, NULL)) return false;
    /* An unreadable source may contain the bookmark. */
    return !update->is_missing || (library_sources(library, look_for_origin, &origin) && origin.is_known);
}

/* Deletes the items whose bookmarks are no longer in any file. On failure, fails the request and
 * returns false. */
static bool delete_gone(struct update *update) {
    struct task *task = &update->task;
    searchlight_extension *self = task->extension;
    char after[MAX_KEY + MAX_LOCAL + 2] = "";
    for (bool has_more = true; has_more;) {
        struct listing *listing = list(task, after);
        if (listing == NULL) return false;
        const char *gone[SEARCHLIGHT_LISTING_MAX];
        size_t count = 0;
        bool is_good = listing->status == SEARCHLIGHT_OK;
        if (is_good && !library_lock(self->library, &task->work)) {
            task_fail(task, SEARCHLIGHT_CANCELLED, "the update was cancelled");
            is_good = false;
        } else if (is_good) {
            for (size_t i = 0; i < listing->count; i++)
                if (is_gone(update, listing->names[i])) gone[count++] = listing->names[i];
            library_unlock(self->library);
        }
        is_good = is_good && donation_delete(task, gone, count);
        has_more = is_good && listing->count == SEARCHLIGHT_LISTING_MAX;
        /* A name that is too long does not come from this extension. The next page starts after its
         * prefix. */
        if (has_more) strncpy(after, listing->names[listing->count - 1], sizeof after - 1);
        free_listing(listing);
        if (!is_good) return false;
    }
    return true;
}

/* Stores the digests of the donated bookmarks, unless another request has read the files since. */
static void keep(struct update *update) {
    searchlight_extension *self = update->task.extension;
    struct digest now = {{0}};
    if (!library_lock(self->library, &update->task.work)) return;
    exported_keep(self);
    bool is_same = library_list(self->library, "", add_to_digest, &now) && memcmp(&now, &update->digest, sizeof now) == 0;
    library_unlock(self->library);
    if (is_same && !update->is_missing) state_write(self, index_name, &now, sizeof now);
}

static void update_files(searchlight_extension *self, searchlight_request request, const searchlight_change *const *changes,
                         size_t count) {
    struct update update = {.donation = NULL};
    bool concerns = false, is_other = false;
    for (size_t i = 0; i < count && !concerns; i++)
        concerns = sources_concern(changes[i]->path) ||
                   (changes[i]->previous_path != NULL && sources_concern(changes[i]->previous_path));
    task_begin(&update.task, self, request);
    if (concerns) {
        if (!donation_pace(&update.task, 0) || !compare(&update)) return;
        for (size_t i = 0; i < PARTS; i++) is_other = is_other || update.differs[i];
        if (is_other) {
            if (!donate_differing(&update) || !delete_gone(&update)) return;
            keep(&update);
        }
    }
    if (update.is_missing)
        task_fail(&update.task, SEARCHLIGHT_UNAVAILABLE, "%s; its bookmarks stay as they were, the others are up to date",
                  update.missing.text);
    else self->requests->finish(self->host, request, SEARCHLIGHT_OK, NULL);
}

const searchlight_extension_changes changes_interface = {sizeof changes_interface, 0, update_files};
