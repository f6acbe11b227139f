/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of every kind that a binding can describe, as libraries provide them, and what
 * libraries do wrong. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers: each function returns a text, so that a test sees the arguments. ---- */
char *numbers(int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f, uint32_t g, uint64_t h, float i, double j) {
    char *text = NULL;
    if (asprintf(&text, "%d %d %d %lld %u %u %u %llu %g %g", a, b, c, (long long)d, e, f, g, (unsigned long long)h, i, j) < 0)
        return NULL;
    return text;
}
int8_t low8(void) { return INT8_MIN; }
int16_t low16(void) { return INT16_MIN; }
int32_t low32(void) { return INT32_MIN; }
int64_t low64(void) { return INT64_MIN; }
uint8_t high8(void) { return UINT8_MAX; }
uint16_t high16(void) { return UINT16_MAX; }
uint32_t high32(void) { return UINT32_MAX; }
uint64_t high64(void) { return UINT64_MAX; }
float half(void) { return 0.5f; }
double third(void) { return 1.0 / 3; }
bool yes(void) { return true; }
char *number_text(int64_t number) {
    char *text = NULL;
    return asprintf(&text, "%lld", (long long)number) < 0 ? NULL : text;
}
char *unsigned_text(uint64_t number) {
    char *text = NULL;
    return asprintf(&text, "%llu", (unsigned long long)number) < 0 ? NULL : text;
}
char *double_text(double number) {
    char *text = NULL;
    return asprintf(&text, "%.3f", number) < 0 ? NULL : text;
}

/* ---- Text, bytes, NULL. ---- */
static _Atomic int frees;
void counted_free(void *pointer) {
    frees++;
    free(pointer);
}
int64_t freed(void) { return frees; }
char *echo(const char *text) { return strdup(text != NULL ? text : "(null)"); }
char *echo_bytes(const uint8_t *bytes, size_t length) {
    char *text = malloc(length + 3);
    if (text == NULL) return NULL;
    snprintf(text, length + 3, "[%.*s]", (int)length, bytes != NULL ? (const char *)bytes : "");
    return text;
}
char *join(const char *const *texts, size_t count) {
    char *text = calloc(1, 1000);
    for (size_t i = 0; text != NULL && i < count; i++) snprintf(text + strlen(text), 1000 - strlen(text), "%s;", texts[i]);
    /* The array also ends with a NULL. */
    if (text != NULL && texts[count] != NULL) text[0] = 0;
    return text;
}
const char *constant(void) { return "a constant"; }
const char *none(void) { return NULL; }
const char *latin(void) { return "caf\xe9"; }

/* ---- Buffers and outputs. ---- */
int fill(uint8_t *buffer, size_t *length, uint8_t byte) {
    if (*length < 4) return ENOSPC;
    memset(buffer, byte, 4);
    *length = 4;
    return 0;
}
int lie(uint8_t *buffer, size_t *length) {
    buffer[0] = 'x';
    *length = 1000000;
    return 0;
}
void digest(const char *text, uint8_t out[8]) {
    memset(out, 0, 8);
    for (size_t i = 0; text[i] != 0; i++) out[i % 8] = (uint8_t)('a' + (out[i % 8] + text[i]) % 26);
    for (size_t i = 0; i < 8; i++)
        if (out[i] == 0) out[i] = '.';
}
void outputs(int8_t *small, uint64_t *large, double *real, char **text, uint8_t **bytes, uint32_t *count) {
    *small = -7;
    *large = UINT64_MAX;
    *real = 2.5;
    *text = strdup("written");
    *bytes = (uint8_t *)strdup("12345678");
    *count = 5;
}
int64_t negative(const uint8_t **bytes) {
    *bytes = (const uint8_t *)"x";
    return -1;
}
int64_t enormous(const uint8_t **bytes) {
    *bytes = (const uint8_t *)"x";
    return INT64_MAX;
}
int fails(int code) { return code; }
const char *why(int code) { return code == 7 ? "seven is not allowed" : NULL; }

/* ---- Structs by value: in registers, in memory, nested, with floats. ---- */
typedef struct { int32_t x, y; } small_t;
typedef struct { double a, b; float c; int8_t d; } mixed_t;
small_t swap(small_t pair) { return (small_t){pair.y, pair.x}; }
mixed_t mix(mixed_t value) { return (mixed_t){value.b, value.a, value.c + 1, (int8_t)-value.d}; }
typedef struct { small_t first; mixed_t second; } nested_t;
nested_t nest(nested_t value) {
    return (nested_t){swap(value.first), mix(value.second)};
}
typedef struct { char *bytes; size_t length; } slice_t;
slice_t slice(const char *text) { return (slice_t){strdup(text), strlen(text) / 2}; }
void slice_out(const char *text, slice_t *out) { *out = slice(text); }

/* ---- Several calls with an object between them. ---- */
typedef struct { char *text; } object_t;
object_t *object_new(const char *text) {
    object_t *object = malloc(sizeof *object);
    if (object != NULL) object->text = strdup(text);
    return object;
}
const char *object_text(object_t *object) { return object->text; }
void object_free(object_t *object) {
    frees++;
    free(object->text);
    free(object);
}

/* ---- Files. ---- */
int write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return errno;
    fputs(text, file);
    return fclose(file) == 0 ? 0 : errno;
}

/* ---- Callbacks: in the call, on threads, late, many times, never, after everything. ---- */
typedef void (*done_t)(void);
typedef void (*status_t)(int32_t status);
typedef void (*progress_t)(uint64_t completed, uint64_t total);
typedef int (*item_t)(const char *identifier, const char *title, const uint8_t *bytes, uint32_t length, double rating);

static done_t kept_done;
static item_t kept_item;
static progress_t kept_progress;

void done_now(done_t done) { done(); }
void done_twice(done_t done) {
    done();
    done();
}
void done_never(done_t done) { kept_done = done; }
void done_with(status_t status, int32_t value) { status(value); }
static void *call_done(void *context) {
    ((done_t)context)();
    return NULL;
}
void done_on_thread(done_t done) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_done, (void *)done) == 0) pthread_detach(thread);
}
void done_on_threads(done_t done) {
    pthread_t threads[16];
    int started = 0;
    while (started < 16 && pthread_create(&threads[started], NULL, call_done, (void *)done) == 0) started++;
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
void keep_all(done_t done, item_t item, progress_t progress) {
    kept_done = done;
    kept_item = item;
    kept_progress = progress;
    done();
}
/* Calls what an earlier request received. */
void call_kept(void) {
    if (kept_item != NULL) kept_item("late", "late", (const uint8_t *)"", 0, 0);
    if (kept_progress != NULL) kept_progress(1, 2);
    if (kept_done != NULL) kept_done();
}
int items(item_t item, progress_t progress, int32_t count) {
    int sum = 0;
    for (int32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "item-%d", i);
        sum += item(name, i % 2 == 0 ? "even" : NULL, (const uint8_t *)"bytes", 5, i / 2.0);
        progress((uint64_t)i + 1, (uint64_t)count);
    }
    return sum;
}
static void *some_items(void *context) {
    static _Atomic int next;
    for (int i = 0; i < 25; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread-%d", next++);
        ((item_t)context)(name, "threaded", (const uint8_t *)"", 0, 1);
    }
    return NULL;
}
void items_on_threads(item_t item) {
    pthread_t threads[8];
    int started = 0;
    while (started < 8 && pthread_create(&threads[started], NULL, some_items, (void *)item) == 0) started++;
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
void bad_items(item_t item) {
    item(NULL, "no name", NULL, 0, 0);
    item("caf\xe9", "no UTF-8", NULL, 0, 0);
    item("", "empty", NULL, 0, 0);
    item("good", "good", (const uint8_t *)"", 0, 0);
}
static double throttled = -1;
void throttle(int32_t reason, double rate) { throttled = reason * 1000 + rate; }
double throttled_at(void) { return throttled; }
