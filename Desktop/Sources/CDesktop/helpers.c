// SPDX-License-Identifier: Apache-2.0
#include "cdesktop.h"

void cdesktop_set_flag(void *object, const char *name, int value) {
    // Some versions of a library may lack a property.
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(object), name)) g_object_set(object, name, value, NULL);
}

void cdesktop_set_text(void *object, const char *name, const char *value) { g_object_set(object, name, value, NULL); }

void cdesktop_buffer_create_tags(GtkTextBuffer *buffer) {
    gtk_text_buffer_create_tag(buffer, "strong", "weight", PANGO_WEIGHT_BOLD, NULL);
    gtk_text_buffer_create_tag(buffer, "found", "background", "#f9e2a0", "foreground", "#2e2a14", NULL);
    gtk_text_buffer_create_tag(buffer, "faint", "foreground", "#888888", NULL);
    gtk_text_buffer_create_tag(buffer, "emphasis", "style", PANGO_STYLE_ITALIC, NULL);
    gtk_text_buffer_create_tag(buffer, "code", "family", "monospace", NULL);
    gtk_text_buffer_create_tag(buffer, "link", "underline", PANGO_UNDERLINE_SINGLE, NULL);
}

void cdesktop_buffer_append(GtkTextBuffer *buffer, const char *text, int length, const char *tag) {
    GtkTextIter end;
    gtk_text_buffer_get_end_iter(buffer, &end);
    gtk_text_buffer_insert_with_tags_by_name(buffer, &end, text, length, tag, NULL);
}

int cdesktop_save_picture(GtkWidget *widget, const char *path) {
    GtkNative *native = gtk_widget_get_native(widget);
    GskRenderer *renderer = native ? gtk_native_get_renderer(native) : NULL;
    if (!renderer) return 0;
    GdkPaintable *paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    g_object_unref(paintable);
    if (!node) return 0;
    GdkTexture *texture = gsk_renderer_render_texture(renderer, node, NULL);
    gsk_render_node_unref(node);
    int saved = gdk_texture_save_to_png(texture, path);
    g_object_unref(texture);
    return saved ? 1 : -1;
}
