// SPDX-License-Identifier: Apache-2.0
#include "cdesktop.h"

// A provider for content that does not exist until a receiver requests it.
typedef struct {
    GdkContentProvider parent;
    GdkContentFormats *formats;
    cdesktop_asked asked;
    void *data;
    GDestroyNotify destroy;
} Promise;

typedef struct {
    GdkContentProviderClass parent_class;
} PromiseClass;

G_DEFINE_TYPE(Promise, cdesktop_promise, GDK_TYPE_CONTENT_PROVIDER)

struct cdesktop_request {
    GTask *task;
    GOutputStream *stream;
    GBytes *bytes;
    cdesktop_written written;
    void *data;
};

static GdkContentFormats *ref_formats(GdkContentProvider *provider) {
    return gdk_content_formats_ref(((Promise *)provider)->formats);
}

static void write_async(GdkContentProvider *provider, const char *media_type, GOutputStream *stream, int priority,
    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data) {
    Promise *promise = (Promise *)provider;
    GTask *task = g_task_new(provider, cancellable, callback, data);
    g_task_set_priority(task, priority);
    if (!gdk_content_formats_contain_mime_type(promise->formats, media_type)) {
        g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "There is no content of type %s.", media_type);
        g_object_unref(task);
        return;
    }
    cdesktop_request *request = g_new0(cdesktop_request, 1);
    request->task = task;
    request->stream = g_object_ref(stream);
    promise->asked(request, media_type, promise->data);
}

static gboolean write_finish(GdkContentProvider *provider, GAsyncResult *result, GError **error) {
    (void)provider;
    return g_task_propagate_boolean(G_TASK(result), error);
}

static void finalize(GObject *object) {
    Promise *promise = (Promise *)object;
    gdk_content_formats_unref(promise->formats);
    promise->destroy(promise->data);
    G_OBJECT_CLASS(cdesktop_promise_parent_class)->finalize(object);
}

static void cdesktop_promise_class_init(PromiseClass *class) {
    G_OBJECT_CLASS(class)->finalize = finalize;
    GdkContentProviderClass *provider = GDK_CONTENT_PROVIDER_CLASS(class);
    provider->ref_formats = ref_formats;
    provider->ref_storable_formats = ref_formats;
    provider->write_mime_type_async = write_async;
    provider->write_mime_type_finish = write_finish;
}

static void cdesktop_promise_init(Promise *promise) { (void)promise; }

GdkContentProvider *cdesktop_promise_new(
    const char *const *media_types, size_t count, cdesktop_asked asked, void *data, GDestroyNotify destroy) {
    Promise *promise = g_object_new(cdesktop_promise_get_type(), NULL);
    GdkContentFormatsBuilder *builder = gdk_content_formats_builder_new();
    for (size_t i = 0; i < count; i++) gdk_content_formats_builder_add_mime_type(builder, media_types[i]);
    promise->formats = gdk_content_formats_builder_free_to_formats(builder);
    promise->asked = asked;
    promise->data = data;
    promise->destroy = destroy;
    return GDK_CONTENT_PROVIDER(promise);
}

static void wrote(GObject *stream, GAsyncResult *result, gpointer data) {
    cdesktop_request *request = data;
    gboolean succeeded = g_output_stream_write_all_finish(G_OUTPUT_STREAM(stream), result, NULL, NULL);
    g_clear_pointer(&request->bytes, g_bytes_unref);
    request->written(succeeded, request->data);
}

void cdesktop_request_write(
    cdesktop_request *request, const void *bytes, size_t length, cdesktop_written written, void *data) {
    request->bytes = g_bytes_new(bytes, length);
    request->written = written;
    request->data = data;
    g_output_stream_write_all_async(request->stream, g_bytes_get_data(request->bytes, NULL), length,
        g_task_get_priority(request->task), g_task_get_cancellable(request->task), wrote, request);
}

int cdesktop_can_transfer(const char *media_type) {
    // GTK serialises lists of files for the portal, if there is one.
    GdkContentFormats *formats =
        gdk_content_formats_union_serialize_mime_types(gdk_content_formats_new_for_gtype(GDK_TYPE_FILE_LIST));
    gboolean can = gdk_content_formats_contain_mime_type(formats, media_type);
    gdk_content_formats_unref(formats);
    return can;
}

static void transferred(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    cdesktop_request *request = data;
    request->written(gdk_content_serialize_finish(result, NULL), request->data);
}

void cdesktop_request_transfer(
    cdesktop_request *request, const char *media_type, const char *path, cdesktop_written written, void *data) {
    request->written = written;
    request->data = data;
    GValue files = G_VALUE_INIT;
    g_value_init(&files, GDK_TYPE_FILE_LIST);
    g_value_take_boxed(&files, g_slist_prepend(NULL, g_file_new_for_path(path)));
    gdk_content_serialize_async(request->stream, media_type, &files, g_task_get_priority(request->task),
        g_task_get_cancellable(request->task), transferred, request);
    g_value_unset(&files);
}

void cdesktop_request_end(cdesktop_request *request, const char *problem) {
    if (problem) {
        g_task_return_new_error(request->task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", problem);
    } else {
        g_task_return_boolean(request->task, TRUE);
    }
    g_object_unref(request->task);
    g_object_unref(request->stream);
    g_free(request);
}
