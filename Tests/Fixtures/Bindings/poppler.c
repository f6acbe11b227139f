/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few functions of poppler-glib with the same names and signatures, for PDF files with
 * uncompressed streams. With this library, the binding in docs/BINDINGS.md runs on machines without
 * poppler. A page is a stream, whose text is in the parentheses before Tj.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *text;
} Object;
static _Atomic int objects;
int objects_alive(void) { return objects; }

void g_free(void *memory) { free(memory); }
void g_object_unref(void *object) {
    if (object == NULL) return;
    free(((Object *)object)->text);
    free(object);
    objects--;
}
static Object *object_new(const char *text, size_t length) {
    Object *object = malloc(sizeof *object);
    if (object == NULL) abort();
    object->text = strndup(text, length);
    objects++;
    return object;
}

Object *poppler_document_new_from_file(const char *uri, const char *password, void **error) {
    (void)error;
    if (strncmp(uri, "file://", 7) != 0 || password != NULL) return NULL;
    FILE *file = fopen(uri + 7, "r");
    if (file == NULL) return NULL;
    char *text = calloc(1, 1 << 20);
    size_t length = text != NULL ? fread(text, 1, (1 << 20) - 1, file) : 0;
    fclose(file);
    Object *document = length > 5 && strncmp(text, "%PDF-", 5) == 0 ? object_new(text, length) : NULL;
    free(text);
    return document;
}
char *poppler_document_get_title(Object *document) {
    const char *title = strstr(document->text, "/Title (");
    if (title == NULL) return NULL;
    return strndup(title + 8, strcspn(title + 8, ")"));
}
static const char *stream(const char *text, int number) {
    for (text = strstr(text, "\nstream\n"); text != NULL && number > 0; number--) text = strstr(text + 8, "\nstream\n");
    return text != NULL ? text + 8 : NULL;
}
int poppler_document_get_n_pages(Object *document) {
    int count = 0;
    while (stream(document->text, count) != NULL) count++;
    return count;
}
Object *poppler_document_get_page(Object *document, int index) {
    const char *text = stream(document->text, index);
    const char *end = text != NULL ? strstr(text, "\nendstream") : NULL;
    return end != NULL ? object_new(text, (size_t)(end - text)) : NULL;
}
char *poppler_page_get_text(Object *page) {
    char *words = calloc(1, strlen(page->text) + 1);
    for (const char *open = strchr(page->text, '('); words != NULL && open != NULL; open = strchr(open + 1, '(')) {
        const char *close = strchr(open, ')');
        if (close == NULL || strncmp(close, ") Tj", 4) != 0) continue;
        if (*words != 0) strcat(words, " ");
        strncat(words, open + 1, (size_t)(close - open - 1));
    }
    return words;
}
