// SPDX-License-Identifier: Apache-2.0
// A GTK 4 window that accepts drops and reads their bytes, for tests with a synthetic mouse. (Python cannot do this: its binding
// of gdk_drop_read_finish crashes.) Standard input names the accepted media type, or “files” for GTK's own type. Standard output
// gets a line for each drop: the time, the type, and the bytes in hexadecimal, or “nothing”. Of a file, the type is its path, without
// spaces, and the bytes are its content.
#include <adwaita.h>

#include <stdio.h>
#include <string.h>

static GtkWidget *label;
static GtkEventController *controller;

typedef struct {
    GdkDrop *drop;
    char *type;
    GByteArray *bytes;
} Reading;

static void report(Reading *reading, gboolean succeeded) {
    gdk_drop_finish(reading->drop, succeeded ? GDK_ACTION_COPY : 0);
    printf("got %.6f %s ", g_get_monotonic_time() / 1e6, reading->type ? reading->type : "none");
    if (!succeeded || !reading->bytes->len) fputs("nothing", stdout);
    for (guint i = 0; succeeded && i < reading->bytes->len; i++) printf("%02x", reading->bytes->data[i]);
    putchar('\n');
    g_object_unref(reading->drop);
    g_free(reading->type);
    g_byte_array_unref(reading->bytes);
    g_free(reading);
}

static void read_more(GObject *stream, GAsyncResult *result, gpointer data) {
    Reading *reading = data;
    GBytes *piece = g_input_stream_read_bytes_finish(G_INPUT_STREAM(stream), result, NULL);
    gsize length = 0;
    const guint8 *bytes = piece ? g_bytes_get_data(piece, &length) : NULL;
    if (length) g_byte_array_append(reading->bytes, bytes, length);
    gboolean failed = !piece;
    g_clear_pointer(&piece, g_bytes_unref);
    if (length) {
        g_input_stream_read_bytes_async(G_INPUT_STREAM(stream), 1 << 16, G_PRIORITY_DEFAULT, NULL, read_more, reading);
    } else {
        g_object_unref(stream);
        report(reading, !failed);
    }
}

static void opened(GObject *drop, GAsyncResult *result, gpointer data) {
    Reading *reading = data;
    const char *type = NULL;
    GInputStream *stream = gdk_drop_read_finish(GDK_DROP(drop), result, &type, NULL);
    if (!stream) return report(reading, FALSE);
    reading->type = g_strdup(type);
    g_input_stream_read_bytes_async(stream, 1 << 16, G_PRIORITY_DEFAULT, NULL, read_more, reading);
}

static gboolean dropped(GtkDropTargetAsync *target, GdkDrop *drop, double x, double y, gpointer data) {
    (void)target, (void)x, (void)y;
    Reading *reading = g_new0(Reading, 1);
    reading->drop = g_object_ref(drop);
    reading->bytes = g_byte_array_new();
    const char *types[] = {data, NULL};
    gdk_drop_read_async(drop, types, G_PRIORITY_DEFAULT, NULL, opened, reading);
    return TRUE;
}

static gboolean file_dropped(GtkDropTarget *target, const GValue *value, double x, double y, gpointer data) {
    (void)target, (void)x, (void)y, (void)data;
    GSList *files = g_value_get_boxed(value);
    char *path = files ? g_file_get_path(files->data) : NULL, *content = NULL;
    gsize length = 0;
    if (path && !g_file_get_contents(path, &content, &length, NULL)) length = 0;
    printf("got %.6f %s ", g_get_monotonic_time() / 1e6, path ? g_strdelimit(path, " ", '_') : "none");
    if (!length) fputs("nothing", stdout);
    for (gsize i = 0; i < length; i++) printf("%02x", (guint8)content[i]);
    putchar('\n');
    g_free(path);
    g_free(content);
    return TRUE;
}

static void accept(const char *type) {
    if (controller) gtk_widget_remove_controller(label, controller);
    if (!strcmp(type, "files")) {
        GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
        controller = GTK_EVENT_CONTROLLER(target);
        g_signal_connect(target, "drop", G_CALLBACK(file_dropped), NULL);
        gtk_widget_add_controller(label, controller);
        return;
    }
    const char *types[] = {type};
    GtkDropTargetAsync *target = gtk_drop_target_async_new(gdk_content_formats_new(types, 1), GDK_ACTION_COPY);
    controller = GTK_EVENT_CONTROLLER(target);
    g_signal_connect_data(target, "drop", G_CALLBACK(dropped), g_strdup(type), (GClosureNotify)(void (*)(void))g_free, 0);
    gtk_widget_add_controller(label, controller);
}

static gboolean read_line(GIOChannel *input, GIOCondition condition, gpointer data) {
    (void)condition, (void)data;
    char *line = NULL;
    if (g_io_channel_read_line(input, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL) exit(0);
    accept(g_strchomp(line));
    printf("accepts %s\n", line);
    g_free(line);
    return TRUE;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    gtk_init();
    GtkWidget *window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window), "Drop target");
    gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
    label = gtk_label_new("Drop");
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_vexpand(label, TRUE);
    gtk_window_set_child(GTK_WINDOW(window), label);
    gtk_window_present(GTK_WINDOW(window));
    g_io_add_watch(g_io_channel_unix_new(0), G_IO_IN | G_IO_HUP, read_line, NULL);
    puts("ready");
    for (;;) g_main_context_iteration(NULL, TRUE);
}
