// SPDX-License-Identifier: Apache-2.0
// Loads the page in the file of the first argument as the window loads previews, and prints its title after it was loaded. Nothing
// sanitises the page first.
#include <adwaita.h>
#include <cdesktop.h>

#include <stdio.h>

static GtkWidget *view;
static GMainLoop *loop;

static void follow(const char *address, void *data) {
    (void)data;
    printf("follow %s\n", address);
}

static void loaded(void *data) {
    (void)data;
    char *title = NULL;
    g_object_get(view, "title", &title, NULL);
    printf("title %s\n", title ? title : "");
    g_free(title);
    g_main_loop_quit(loop);
}

int main(int count, char **arguments) {
    char *page = NULL;
    gsize length = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count != 2 || !g_file_get_contents(arguments[1], &page, &length, NULL)) return 64;
    adw_init();
    view = cdesktop_web_view_new(follow, G_CALLBACK(loaded), NULL);
    if (!view) {
        puts("missing");
        return 0;
    }
    GtkWidget *window = gtk_window_new();
    gtk_window_set_child(GTK_WINDOW(window), view);
    gtk_window_present(GTK_WINDOW(window));
    loop = g_main_loop_new(NULL, FALSE);
    cdesktop_web_view_load(view, page, length);
    g_main_loop_run(loop);
    gtk_window_destroy(GTK_WINDOW(window));
    g_free(page);
    return 0;
}
