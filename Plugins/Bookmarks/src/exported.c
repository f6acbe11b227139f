/* SPDX-License-Identifier: Apache-2.0 */
/* exported.c: which exported files had bookmarks, from one worker to the next. It is the client state of an index that has no
 * items: the index is what loses bookmarks, so what is known of them goes with it. */
#include "extension.h"

#include <string.h>

static const char index_name[] = "exported-files";
_Static_assert(MAX_EXPORTED * sizeof(uint64_t) <= SEARCHLIGHT_CLIENT_STATE_MAX, "fits a client state");

/* What an answer is waited for with. */
struct answer {
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool has_come;
    searchlight_status status;
    struct exported exported;
};
#define ANSWER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, SEARCHLIGHT_OK, {{0}, 0}}

static void take_state(void *context, searchlight_status status, const char *message, const void *state, size_t length) {
    struct answer *answer = context;
    (void)message;
    pthread_mutex_lock(&answer->mutex);
    answer->status = status;
    if (status == SEARCHLIGHT_OK && state != NULL && length <= sizeof answer->exported.hashes && length % sizeof(uint64_t) == 0) {
        memcpy(answer->exported.hashes, state, length);
        answer->exported.count = length / sizeof(uint64_t);
    }
    answer->has_come = true;
    pthread_cond_signal(&answer->came);
    pthread_mutex_unlock(&answer->mutex);
}

static void take_receipt(void *context, searchlight_status status, const char *message) {
    take_state(context, status, message, NULL, 0);
}

/* Waits for what was asked (`sent`: the status of asking). */
static bool came(struct answer *answer, searchlight_status sent) {
    pthread_mutex_lock(&answer->mutex);
    while (sent == SEARCHLIGHT_OK && !answer->has_come) pthread_cond_wait(&answer->came, &answer->mutex);
    pthread_mutex_unlock(&answer->mutex);
    return sent == SEARCHLIGHT_OK && answer->status == SEARCHLIGHT_OK;
}

void exported_recall(searchlight_extension *self) {
    struct answer answer = ANSWER;
    if (self->batch == NULL || self->is_recalled) return;
    self->is_recalled = came(&answer, self->batch->read_state(self->host, index_name, take_state, &answer));
    if (!self->is_recalled) return;
    self->recalled = answer.exported;
    /* What this worker has seen since an earlier attempt failed is newer. */
    if (library_exported(self->library)->count == 0) library_remember(self->library, &self->recalled);
}

void exported_keep(searchlight_extension *self) {
    struct answer answer = ANSWER;
    struct exported now = *library_exported(self->library);
    size_t length = now.count * sizeof *now.hashes;
    if (!self->is_recalled ||
        (now.count == self->recalled.count && memcmp(now.hashes, self->recalled.hashes, length) == 0)) return;
    searchlight_batch *batch = self->batch->create(self->host);
    if (batch == NULL) return;
    /* If it cannot be kept, the next reindex tries again. */
    if (came(&answer, self->batch->commit(self->host, index_name, batch, now.hashes, length, SEARCHLIGHT_EXPECT_ANY, NULL, 0,
                                          take_receipt, &answer)))
        self->recalled = now;
    self->batch->release(batch);
}
