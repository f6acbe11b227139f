/* SPDX-License-Identifier: Apache-2.0 */
#include "CPoppler.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The functions of poppler-glib, GLib and cairo that are used, with their documented signatures.
 * Symbols of the libraries that poppler-glib needs are found through its handle. */
#define FUNCTIONS(X)                                                                                              \
    X(void *, poppler_document_new_from_fd, (int descriptor, const char *password, void **error))                \
    X(int, poppler_document_get_n_pages, (void *document))                                                       \
    X(char *, poppler_document_get_title, (void *document))                                                      \
    X(char *, poppler_document_get_author, (void *document))                                                     \
    X(char *, poppler_document_get_subject, (void *document))                                                    \
    X(char *, poppler_document_get_keywords, (void *document))                                                   \
    X(char *, poppler_document_get_metadata, (void *document))                                                   \
    X(long, poppler_document_get_creation_date, (void *document))                                                \
    X(long, poppler_document_get_modification_date, (void *document))                                            \
    X(void *, poppler_document_get_page, (void *document, int index))                                            \
    X(char *, poppler_page_get_text, (void *page))                                                               \
    X(void, poppler_page_get_size, (void *page, double *width, double *height))                                  \
    X(void, poppler_page_render, (void *page, void *context))                                                    \
    X(void, g_object_unref, (void *object))                                                                      \
    X(void, g_free, (void *memory))                                                                              \
    X(void, g_error_free, (void *error))                                                                         \
    X(void *, g_log_set_default_handler, (void (*function)(const char *, int, const char *, void *), void *))     \
    X(void *, cairo_image_surface_create, (int format, int width, int height))                                   \
    X(int, cairo_surface_status, (void *surface))                                                                \
    X(void, cairo_surface_destroy, (void *surface))                                                              \
    X(int, cairo_surface_write_to_png_stream,                                                                    \
      (void *surface, int (*write)(void *closure, const unsigned char *data, unsigned int length), void *closure)) \
    X(void *, cairo_create, (void *surface))                                                                     \
    X(void, cairo_destroy, (void *context))                                                                      \
    X(int, cairo_status, (void *context))                                                                        \
    X(void, cairo_scale, (void *context, double x, double y))                                                    \
    X(void, cairo_set_source_rgb, (void *context, double red, double green, double blue))                        \
    X(void, cairo_paint, (void *context))                                                                        \
    X(void *, FcConfigCreate, (void))                                                                            \
    X(int, FcConfigParseAndLoadFromMemory, (void *configuration, const unsigned char *xml, int complain))        \
    X(int, FcConfigSetCurrent, (void *configuration))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

/* GLib's GError. */
typedef struct {
    uint32_t domain;
    int code;
    char *message;
} error_record;

/* POPPLER_ERROR_ENCRYPTED */
enum { encrypted = 1 };

static int is_loaded;

/* Faults in a document are results here. Without this, each would be a line on standard error. */
static void ignore(const char *domain, int level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

static void load(void) {
    void *library = dlopen("libpoppler-glib.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int missing = 0;
#define LOOK_UP(result, name, parameters) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) missing = 1;
    FUNCTIONS(LOOK_UP)
    if (missing) return;
    /* A page of 1,600 pixels takes 8 MiB. glibc raises its mmap threshold to the size of each freed
     * block, so later pages would be allocated in the threads' heaps, which stay large: 43 MiB
     * instead of 3 MiB after 40 pages in 4 threads. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    g_log_set_default_handler(ignore, NULL);
    is_loaded = 1;
}

static int library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

struct pdf_document {
    void *document;
};

pdf_result pdf_open(int descriptor, pdf_document **document) {
    *document = NULL;
    if (!library()) return PDF_NO_LIBRARY;
    /* A duplicate, since poppler closes its descriptor. */
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (own < 0) return PDF_DAMAGED;
    void *error = NULL;
    void *opened = poppler_document_new_from_fd(own, NULL, &error);
    if (!opened) {
        int code = error ? ((error_record *)error)->code : 0;
        if (error) g_error_free(error);
        return code == encrypted ? PDF_ENCRYPTED : PDF_DAMAGED;
    }
    *document = malloc(sizeof **document);
    if (!*document) {
        g_object_unref(opened);
        return PDF_DAMAGED;
    }
    (*document)->document = opened;
    return PDF_OPENED;
}

void pdf_close(pdf_document *document) {
    if (!document) return;
    g_object_unref(document->document);
    free(document);
}

int pdf_page_count(const pdf_document *document) {
    int count = poppler_document_get_n_pages(document->document);
    return count < 0 ? 0 : count;
}

/* Copies a text from GLib, which may not use malloc. */
static char *take(char *text) {
    char *copy = text ? strdup(text) : NULL;
    g_free(text);
    return copy;
}

char *pdf_copy_property(const pdf_document *document, pdf_property property) {
    void *opened = document->document;
    switch (property) {
    case PDF_TITLE: return take(poppler_document_get_title(opened));
    case PDF_AUTHOR: return take(poppler_document_get_author(opened));
    case PDF_SUBJECT: return take(poppler_document_get_subject(opened));
    case PDF_KEYWORDS: return take(poppler_document_get_keywords(opened));
    case PDF_XMP: return take(poppler_document_get_metadata(opened));
    }
    return NULL;
}

int64_t pdf_created(const pdf_document *document) {
    return poppler_document_get_creation_date(document->document);
}

int64_t pdf_modified(const pdf_document *document) {
    return poppler_document_get_modification_date(document->document);
}

char *pdf_copy_text(const pdf_document *document, int number) {
    void *page = poppler_document_get_page(document->document, number);
    if (!page) return NULL;
    char *text = take(poppler_page_get_text(page));
    g_object_unref(page);
    return text;
}

typedef struct {
    char *bytes;
    size_t length, room;
} output;

/* The maximum size of a picture of a page. */
enum { maximum_png = 8 << 20 };

static int append(void *closure, const unsigned char *data, unsigned int length) {
    enum { success = 0, failure = 11 }; /* CAIRO_STATUS_SUCCESS, CAIRO_STATUS_WRITE_ERROR */
    output *output = closure;
    if (length > maximum_png - output->length) return failure;
    if (output->length + length > output->room) {
        size_t room = 2 * (output->length + length);
        char *bytes = realloc(output->bytes, room);
        if (!bytes) return failure;
        output->bytes = bytes;
        output->room = room;
    }
    memcpy(output->bytes + output->length, data, length);
    output->length += length;
    return success;
}

/* Links the system's cache of fonts into a folder. fontconfig removes a file of the cache that
 * is older than the fonts. In the system's folder, the sandbox would refuse that and report it. */
static void link_caches(const char *folder) {
    enum { MOST = 1000 };
    static const char system_folder[] = "/var/cache/fontconfig";
    DIR *caches = opendir(system_folder);
    if (!caches) return;
    struct dirent *entry;
    for (int count = 0; count < MOST && (entry = readdir(caches)); count++) {
        if (!strstr(entry->d_name, ".cache-")) continue;
        char target[sizeof system_folder + sizeof entry->d_name + 1], name[2048];
        snprintf(target, sizeof target, "%s/%s", system_folder, entry->d_name);
        int size = snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (size > 0 && (size_t)size < sizeof name && symlink(target, name) != 0 && errno != EEXIST) break;
    }
    closedir(caches);
}

/* The system's fonts, for text whose font is not embedded in the document. The user's configuration
 * and that in /etc are not read, because a worker must not; fontconfig's cache is in the temporary
 * folder. */
static void set_fonts(void) {
    const char *temporary = getenv("TMPDIR");
    if (!temporary) temporary = "/tmp";
    char xml[2048];
    /* If the system's cache is older than the fonts, fontconfig writes a new one. It makes a
     * missing folder with chmod, which the sandbox denies, and then tries the next folder. */
    int size = snprintf(xml, sizeof xml, "%s/fonts", temporary);
    if (size > 0 && (size_t)size < sizeof xml && (mkdir(xml, 0700) == 0 || errno == EEXIST)) link_caches(xml);
    int length = snprintf(
        xml, sizeof xml,
        "<?xml version=\"1.0\"?><fontconfig><dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir>"
        "<cachedir>%s/fonts</cachedir>"
        "<alias binding=\"same\"><family>Helvetica</family><accept><family>Nimbus Sans</family>"
        "<family>Liberation Sans</family><family>DejaVu Sans</family></accept></alias>"
        "<alias binding=\"same\"><family>Times</family><accept><family>Nimbus Roman</family>"
        "<family>Liberation Serif</family><family>DejaVu Serif</family></accept></alias>"
        "<alias binding=\"same\"><family>Courier</family><accept><family>Nimbus Mono PS</family>"
        "<family>Liberation Mono</family><family>DejaVu Sans Mono</family></accept></alias></fontconfig>",
        temporary);
    void *configuration = FcConfigCreate();
    if (!configuration || length < 0 || (size_t)length >= sizeof xml) return;
    if (FcConfigParseAndLoadFromMemory(configuration, (const unsigned char *)xml, 0)) FcConfigSetCurrent(configuration);
}

static void *render(void *page, int side, size_t *length) {
    static pthread_once_t fonts = PTHREAD_ONCE_INIT;
    pthread_once(&fonts, set_fonts);
    double width = 0, height = 0;
    poppler_page_get_size(page, &width, &height);
    double longest = width > height ? width : height;
    /* Pages are measured in points. In a hostile file, the size may be anything, even NaN. */
    if (!(width > 0 && height > 0 && longest < 1e6)) return NULL;
    double scale = side / longest;
    int columns = (int)fmax(1, ceil(width * scale - 0.01)), rows = (int)fmax(1, ceil(height * scale - 0.01));
    void *surface = cairo_image_surface_create(1 /* CAIRO_FORMAT_RGB24 */, columns, rows);
    void *context = cairo_create(surface);
    cairo_set_source_rgb(context, 1, 1, 1);
    cairo_paint(context);
    cairo_scale(context, scale, scale);
    poppler_page_render(page, context);
    output output = {NULL, 0, 0};
    int failed = cairo_status(context) || cairo_surface_status(surface) ||
                 cairo_surface_write_to_png_stream(surface, append, &output);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    if (failed) {
        free(output.bytes);
        return NULL;
    }
    *length = output.length;
    return output.bytes;
}

void *pdf_copy_png(const pdf_document *document, int number, int side, size_t *length) {
    *length = 0;
    void *page = poppler_document_get_page(document->document, number);
    if (!page) return NULL;
    void *bytes = render(page, side, length);
    g_object_unref(page);
    return bytes;
}
