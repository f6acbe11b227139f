/* SPDX-License-Identifier: Apache-2.0 */
/* state.c: see state.h. */
#include "state.h"

#include <string.h>

/* A wait for an answer. */
struct answer {
    pthread_mutex_t mutex;
    pthread_cond_t came;
    bool has_come;
    searchlight_status status;
    unsigned char bytes[SEARCHLIGHT_CLIENT_STATE_MAX];
    size_t length;
};
#define ANSWER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, SEARCHLIGHT_OK, {0}, 0}

static void take_state(void *context, searchlight_status status, const char *message, const void *state, size_t length) {
    struct answer *answer = context;
    (void)message;
    pthread_mutex_lock(&answer->mutex);
    answer->status = status;
    if (status == SEARCHLIGHT_OK && state != NULL && length <= sizeof answer->bytes) {
        memcpy(answer->bytes, state, length);
        answer->length = length;
    }
    answer->has_come = true;
    pthread_cond_signal(&answer->came);
    pthread_mutex_unlock(&answer->mutex);
}

static void take_receipt(void *context, searchlight_status status, const char *message) {
    take_state(context, status, message, NULL, 0);
}

/* Waits for the answer to a request. `sent` is the status of sending. */
static bool came(struct answer *answer, searchlight_status sent) {
    pthread_mutex_lock(&answer->mutex);
    while (sent == SEARCHLIGHT_OK && !answer->has_come) pthread_cond_wait(&answer->came, &answer->mutex);
    pthread_mutex_unlock(&answer->mutex);
    return sent == SEARCHLIGHT_OK && answer->status == SEARCHLIGHT_OK;
}

bool state_read(const searchlight_extension *self, const char *index_name, void *bytes, size_t capacity, size_t *length) {
    struct answer answer = ANSWER;
    *length = 0;
    if (self->batch == NULL || !came(&answer, self->batch->read_state(self->host, index_name, take_state, &answer)))
        return false;
    if (answer.length <= capacity) {
        memcpy(bytes, answer.bytes, answer.length);
        *length = answer.length;
    }
    return true;
}

bool state_write(const searchlight_extension *self, const char *index_name, const void *bytes, size_t length) {
    struct answer answer = ANSWER;
    searchlight_batch *batch = self->batch == NULL ? NULL : self->batch->create(self->host);
    if (batch == NULL) return false;
    bool is_kept = came(&answer, self->batch->commit(self->host, index_name, batch, bytes, length, SEARCHLIGHT_EXPECT_ANY, NULL,
                                                     0, take_receipt, &answer));
    self->batch->release(batch);
    return is_kept;
}
