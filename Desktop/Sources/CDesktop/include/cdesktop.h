// SPDX-License-Identifier: Apache-2.0
// The parts of the window that need C: a subclass of GdkContentProvider, variadic functions, and
// WebKit, which is loaded at run time. All functions are called on the main thread.
#ifndef CDESKTOP_H
#define CDESKTOP_H

#include <adwaita.h>

// A receiver's request for one media type of a drag. It ends with cdesktop_request_end.
typedef struct cdesktop_request cdesktop_request;

// Called when a receiver requests a media type.
typedef void (*cdesktop_asked)(cdesktop_request *request, const char *media_type, void *data);
// Called after a write. `succeeded` is 0 if the receiver no longer exists.
typedef void (*cdesktop_written)(int succeeded, void *data);

// Creates a content provider that offers media types and asks for their content when a receiver
// requests it. `destroy` frees `data`.
GdkContentProvider *cdesktop_promise_new(
    const char *const *media_types, size_t count, cdesktop_asked asked, void *data, GDestroyNotify destroy);

// Writes a copy of the bytes, and calls `written` afterwards. Only one write at a time is allowed.
void cdesktop_request_write(
    cdesktop_request *request, const void *bytes, size_t length, cdesktop_written written, void *data);
// Returns 1 if the file-transfer portal exists and GTK knows it by this media type.
int cdesktop_can_transfer(const char *media_type);
// Registers a file with the file-transfer portal and writes its key, and calls `written` afterwards.
void cdesktop_request_transfer(
    cdesktop_request *request, const char *media_type, const char *path, cdesktop_written written, void *data);
// Ends and frees a request. `problem` is the reason why the receiver gets no content, or NULL.
void cdesktop_request_end(cdesktop_request *request, const char *problem);

// Creates a view for pages, without scripts, storage or network; NULL if WebKit is not installed.
// `link` is called with the URL of a link that the user clicked, and `loaded` when a page is
// complete.
typedef void (*cdesktop_link)(const char *address, void *data);
GtkWidget *cdesktop_web_view_new(cdesktop_link link, GCallback loaded, void *data);
// Shows a UTF-8 HTML page.
void cdesktop_web_view_load(GtkWidget *view, const void *bytes, size_t length);
// Sets the colour that is shown until a page is painted.
void cdesktop_web_view_set_background(GtkWidget *view, const GdkRGBA *colour);

// Sets a Boolean property of an object, if it has such a property.
void cdesktop_set_flag(void *object, const char *name, int value);
// Sets a textual property of an object.
void cdesktop_set_text(void *object, const char *name, const char *value);
// Creates the styles of a text buffer: “strong”, “found”, “faint”, “emphasis”, “code” and “link”. A
// NULL tag means no style.
void cdesktop_buffer_create_tags(GtkTextBuffer *buffer);
void cdesktop_buffer_append(GtkTextBuffer *buffer, const char *text, int length, const char *tag);
// Draws a widget into a PNG file. Returns 0 if it cannot be drawn or written.
int cdesktop_save_picture(GtkWidget *widget, const char *path);

#endif
