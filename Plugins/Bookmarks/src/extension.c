/* SPDX-License-Identifier: Apache-2.0 */
/* extension.c: the entry point, the worker's object, and functions that all requests use. */
#include "extension.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct searchlight_extension self;

static bool goes_on(void *context, uint64_t completed, uint64_t total) {
    const struct task *task = context;
    const searchlight_extension *extension = task->extension;
    extension->progress->report(extension->host, task->request, completed, total);
    return !extension->cancel->is_cancelled(extension->host, task->request);
}

void task_begin(struct task *task, searchlight_extension *extension, searchlight_request request) {
    *task = (struct task){extension, request, {task, goes_on, 1}};
}

void task_fail(const struct task *task, searchlight_status status, const char *format, ...) {
    char message[MAX_PROBLEM + 256], line[3 * sizeof message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    /* The message may contain text from other sources, and may be cut in the middle of a
     * character. */
    text_line(line, sizeof line, slice_of(message), 0);
    task->extension->requests->finish(task->extension->host, task->request, status, line);
}

bool task_take_library(struct task *task, const char *identifier, bool as_it_is) {
    struct library *library = task->extension->library;
    struct problem problem = {""};
    if (!library_lock(library, &task->work)) {
        task_fail(task, SEARCHLIGHT_CANCELLED, "the request was cancelled");
        return false;
    }
    if (identifier == NULL) exported_recall(task->extension);
    enum reading reading = as_it_is && library_is_filled(library)
                               ? READING_DONE : library_refresh(library, &task->work, identifier, &problem);
    if (reading == READING_DONE) return true;
    library_unlock(library);
    if (reading == READING_CANCELLED) task_fail(task, SEARCHLIGHT_CANCELLED, "the request was cancelled");
    else task_fail(task, SEARCHLIGHT_UNAVAILABLE, "%s", problem.text);
    return false;
}

static void say(void *context, const char *text) {
    const searchlight_extension *extension = context;
    char line[4 * MAX_PROBLEM];
    text_line(line, sizeof line, slice_of(text), 0);
    extension->log->log(extension->host, SEARCHLIGHT_LOG_WARNING, line);
}

static void report_omission(void *context, const char *name, const char *reason) {
    const searchlight_extension *extension = context;
    char line[4096];
    text_line(line, sizeof line, slice_of(name), 0);
    extension->left_out->report(extension->host, line, reason);
}

bool omissions_report(const searchlight_extension *extension) {
    if (extension->left_out == NULL) return true;
    return library_omissions(extension->library, report_omission, (void *)extension);
}

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    self.host = host;
    self.requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
    self.items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
    self.index = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
    self.batch = host->get_interface(host, SEARCHLIGHT_HOST_BATCH);
    self.cancel = host->get_interface(host, SEARCHLIGHT_HOST_CANCEL);
    self.progress = host->get_interface(host, SEARCHLIGHT_HOST_PROGRESS);
    self.log = host->get_interface(host, SEARCHLIGHT_HOST_LOG);
    self.keys = host->get_interface(host, SEARCHLIGHT_HOST_CUSTOM_KEYS);
    self.listing = host->get_interface(host, SEARCHLIGHT_HOST_LISTING);
    self.left_out = host->get_interface(host, SEARCHLIGHT_HOST_LEFT_OUT);
    if (!self.requests || !self.items || !self.index || !self.cancel || !self.progress || !self.log) {
        snprintf(error, error_capacity, "this host is too old for the bookmarks");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    pthread_condattr_t attributes;
    self.library = library_create(say, &self);
    bool is_good = self.library != NULL && pthread_mutex_init(&self.throttle_mutex, NULL) == 0 &&
                   pthread_condattr_init(&attributes) == 0 &&
                   pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(&self.throttle_changed, &attributes) == 0;
    if (!is_good) {
        snprintf(error, error_capacity, "out of memory");
        return SEARCHLIGHT_FAILED;
    }
    *extension = &self;
    return SEARCHLIGHT_OK;
}

static void destroy(searchlight_extension *extension) { library_destroy(extension->library); }

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    bool finds_differences = extension->listing != NULL && extension->batch != NULL;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_CHANGES) == 0 && finds_differences) return &changes_interface;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_REINDEX) == 0) return &reindex_interface;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PAGING) == 0) return &paging_interface;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_THROTTLE) == 0) return &throttle_interface;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PROMISES) == 0) return &promises_interface;
    if (strcmp(identifier, SEARCHLIGHT_EXTENSION_PREVIEW) == 0) return &preview_interface;
    return NULL;
}

/* The only symbol that the host looks up. */
SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void);
SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
    static const searchlight_extension_entry entry = {
        sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, "com.searchlight.bookmarks",
        create,       destroy,               get_interface};
    return &entry;
}
