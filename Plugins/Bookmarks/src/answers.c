/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c: the representations of a bookmark for other apps: promises, and the preview
 * (page.h). */
#include "extension.h"
#include "page.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The answer that is rendered from a bookmark while the library is locked. */
struct answer {
    const char *type, *query;
    struct buffer bytes;
    char title[MAX_TITLE];
};

static bool is_among(const char *type, const char *const types[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i], type) == 0) return true;
    return false;
}

static bool write_representation(void *context, const struct entry *entry) {
    struct answer *answer = context;
    struct buffer *bytes = &answer->bytes;
    snprintf(answer->title, sizeof answer->title, "%s", entry->title);
    if (strcmp(answer->type, "public.url") == 0) {
        /* The same bytes as NSItemProvider delivers for an NSURL: only the URL in UTF-8. */
        buffer_say(bytes, entry->url);
    } else if (strcmp(answer->type, "public.html") == 0) {
        buffer_say(bytes, "<a href=\"");
        buffer_escape(bytes, entry->url, strlen(entry->url));
        buffer_say(bytes, "\">");
        buffer_escape(bytes, entry->title, strlen(entry->title));
        buffer_say(bytes, "</a>");
    } else if (strcmp(answer->type, "public.utf8-plain-text") == 0) {
        buffer_say(bytes, entry->title);
        buffer_say(bytes, "\n");
        buffer_say(bytes, entry->url);
        buffer_say(bytes, "\n");
    } else if (strcmp(answer->type, "com.microsoft.internet-shortcut") == 0) {
        buffer_say(bytes, "[InternetShortcut]\r\nURL=");
        buffer_say(bytes, entry->url);
        buffer_say(bytes, "\r\n");
    } else {
        buffer_say(bytes, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\""
                          " \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
                          "<plist version=\"1.0\"><dict><key>URL</key><string>");
        buffer_escape(bytes, entry->url, strlen(entry->url));
        buffer_say(bytes, "</string></dict></plist>\n");
    }
    return true;
}

static bool write_preview(void *context, const struct entry *entry) {
    struct answer *answer = context;
    snprintf(answer->title, sizeof answer->title, "%s", entry->title);
    page_write(&answer->bytes, entry, answer->query);
    return true;
}

/* Renders the answer for an item. On failure, fails the request and returns false. The caller frees
 * answer->bytes.bytes. */
static bool make_answer(struct task *task, const char *item, entry_taker make, struct answer *answer) {
    struct problem missing = {""};
    if (!task_take_library(task, item, false)) return false;
    struct library *library = task->extension->library;
    bool is_there = library_find(library, item, false, make, answer);
    if (library_missing(library) != NULL) problem_set(&missing, "%s", library_missing(library));
    library_unlock(library);
    if (answer->bytes.failed) task_fail(task, SEARCHLIGHT_FAILED, "out of memory");
    else if (is_there) return true;
    else if (*missing.text != 0) task_fail(task, SEARCHLIGHT_UNAVAILABLE, "%s", missing.text);
    else task_fail(task, SEARCHLIGHT_NOT_FOUND, "the bookmark no longer exists");
    free(answer->bytes.bytes);
    return false;
}

static void provide_data(searchlight_extension *self, searchlight_request request, const char *item, const char *type) {
    struct task task;
    struct answer answer = {.type = type};
    task_begin(&task, self, request);
    if (!is_among(type, promised_data, 3)) {
        task_fail(&task, SEARCHLIGHT_UNSUPPORTED, "a bookmark is not available as %.200s, only as an address, a link or text", type);
        return;
    }
    if (!make_answer(&task, item, write_representation, &answer)) return;
    self->requests->finish_with_data(self->host, request, answer.bytes.bytes, answer.bytes.length);
    free(answer.bytes.bytes);
}

/* Creates a file in the temporary folder, named after the title. Returns its descriptor, or -1. */
static int make_file(const char *title, const char *ending, char *path, size_t capacity) {
    const char *folder = getenv("TMPDIR");
    char name[128];
    size_t length = text_line(name, sizeof name, slice_of(title), 0);
    for (size_t i = 0; i < length; i++)
        if (name[i] == '/' || name[i] == '\\' || name[i] == ':' || (i == 0 && name[i] == '.')) name[i] = '-';
    for (int number = 1; number < 1000; number++) {
        char counted[16] = "";
        if (number > 1) snprintf(counted, sizeof counted, " %d", number);
        int written = snprintf(path, capacity, "%s/%s%s.%s", folder == NULL ? "/tmp" : folder, length == 0 ? "Bookmark" : name,
                               counted, ending);
        if (written < 0 || (size_t)written >= capacity) break;
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

static void provide_file(searchlight_extension *self, searchlight_request request, const char *item, const char *type,
                         int32_t in_place) {
    struct task task;
    struct answer answer = {.type = type};
    char path[4096];
    task_begin(&task, self, request);
    if (in_place != 0 || !is_among(type, promised_files, 2)) {
        task_fail(&task, SEARCHLIGHT_UNSUPPORTED, "a bookmark is not available as a file of type %.200s%s", type,
                  in_place != 0 ? " in place, because it has no file" : "");
        return;
    }
    if (!make_answer(&task, item, write_representation, &answer)) return;
    int file = make_file(answer.title, strcmp(type, promised_files[0]) == 0 ? "url" : "webloc", path, sizeof path);
    bool is_written = file >= 0 && write(file, answer.bytes.bytes, answer.bytes.length) == (ssize_t)answer.bytes.length;
    if (file >= 0 && close(file) != 0) is_written = false;
    if (is_written) {
        self->requests->finish_with_file(self->host, request, path, 1);
    } else {
        task_fail(&task, SEARCHLIGHT_FAILED, "a file for the bookmark cannot be written in the temporary folder: %s",
                  strerror(errno));
        if (file >= 0) unlink(path);
    }
    free(answer.bytes.bytes);
}

static void preview(searchlight_extension *self, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    struct task task;
    struct answer answer = {.query = query};
    (void)content_path;
    task_begin(&task, self, request);
    if (!make_answer(&task, item, write_preview, &answer)) return;
    searchlight_preview_reply reply = {sizeof reply, 0, "public.html", answer.title, answer.bytes.bytes, answer.bytes.length,
                                       0,            0, NULL};
    self->requests->finish_with_preview(self->host, request, &reply);
    free(answer.bytes.bytes);
}

const searchlight_extension_promises promises_interface = {sizeof promises_interface, 0, provide_data, provide_file};
const searchlight_extension_preview preview_interface = {sizeof preview_interface, 0, preview};
