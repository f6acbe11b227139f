// SPDX-License-Identifier: Apache-2.0
// WebKit is loaded when the first page is shown, so the window opens quickly and also works without
// WebKit. The functions belong to API version 6.0, which WebKitGTK keeps stable.
#include "cdesktop.h"

#include <dlfcn.h>

#define PROXY_CUSTOM 2
#define POLICY_NAVIGATION 0
#define POLICY_NEW_WINDOW 1
#define NAVIGATION_LINK_CLICKED 0
#define LOAD_FINISHED 3

static struct {
    GType (*view_type)(void);
    void *(*settings_new)(void);
    void *(*session_new)(void);
    void *(*proxy_new)(const char *address, const char *const *ignored);
    void (*session_set_proxy)(void *session, int mode, void *proxy);
    void (*load)(void *view, GBytes *bytes, const char *type, const char *encoding, const char *base);
    void (*set_background)(void *view, const GdkRGBA *colour);
    void *(*decision_action)(void *decision);
    void *(*action_request)(void *action);
    int (*action_type)(void *action);
    const char *(*request_address)(void *request);
    void (*use)(void *decision);
    void (*ignore)(void *decision);
} webkit;

static gboolean open_webkit(void) {
    static int state;
    if (state) return state > 0;
    state = -1;
    void *library = dlopen("libwebkitgtk-6.0.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return FALSE;
    const struct {
        const char *name;
        void **slot;
    } functions[] = {
        {"webkit_web_view_get_type", (void **)&webkit.view_type},
        {"webkit_settings_new", (void **)&webkit.settings_new},
        {"webkit_network_session_new_ephemeral", (void **)&webkit.session_new},
        {"webkit_network_proxy_settings_new", (void **)&webkit.proxy_new},
        {"webkit_network_session_set_proxy_settings", (void **)&webkit.session_set_proxy},
        {"webkit_web_view_load_bytes", (void **)&webkit.load},
        {"webkit_web_view_set_background_color", (void **)&webkit.set_background},
        {"webkit_navigation_policy_decision_get_navigation_action", (void **)&webkit.decision_action},
        {"webkit_navigation_action_get_request", (void **)&webkit.action_request},
        {"webkit_navigation_action_get_navigation_type", (void **)&webkit.action_type},
        {"webkit_uri_request_get_uri", (void **)&webkit.request_address},
        {"webkit_policy_decision_use", (void **)&webkit.use},
        {"webkit_policy_decision_ignore", (void **)&webkit.ignore},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(functions); i++) {
        *functions[i].slot = dlsym(library, functions[i].name);
        if (!*functions[i].slot) return FALSE;
    }
    state = 1;
    return TRUE;
}

typedef struct {
    cdesktop_link link;
    void (*loaded)(void *data);
    void *data;
} Handlers;

// Only pages that the window loads are shown. A clicked link is passed to the window, and
// everything else is dropped.
static gboolean decide(void *view, void *decision, int type, void *data) {
    (void)view;
    Handlers *handlers = data;
    if (type != POLICY_NAVIGATION && type != POLICY_NEW_WINDOW) return FALSE;
    void *action = webkit.decision_action(decision);
    const char *address = webkit.request_address(webkit.action_request(action));
    if (webkit.action_type(action) == NAVIGATION_LINK_CLICKED) {
        if (address) handlers->link(address, handlers->data);
        webkit.ignore(decision);
    } else if (type == POLICY_NAVIGATION && address && g_str_equal(address, "about:blank")) {
        webkit.use(decision);
    } else {
        webkit.ignore(decision);
    }
    return TRUE;
}

static gboolean refuse(void) { return TRUE; }

static void changed(void *view, int event, void *data) {
    (void)view;
    Handlers *handlers = data;
    if (event == LOAD_FINISHED) handlers->loaded(handlers->data);
}

GtkWidget *cdesktop_web_view_new(cdesktop_link link, GCallback loaded, void *data) {
    if (!open_webkit()) return NULL;
    // Nothing is stored, and every connection would go to a port where no process listens.
    void *session = webkit.session_new();
    webkit.session_set_proxy(session, PROXY_CUSTOM, webkit.proxy_new("socks://127.0.0.1:1", NULL));
    void *settings = webkit.settings_new();
    static const char *const off[] = {
        "enable-javascript", "enable-javascript-markup", "enable-html5-database", "enable-html5-local-storage",
        "enable-media", "enable-media-stream", "enable-webgl", "enable-webaudio", "enable-webrtc", "enable-mediasource",
        "enable-encrypted-media", "enable-dns-prefetching", "enable-page-cache", "enable-fullscreen",
        "enable-back-forward-navigation-gestures",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(off); i++) cdesktop_set_flag(settings, off[i], FALSE);
    GtkWidget *view = g_object_new(webkit.view_type(), "network-session", session, "settings", settings, NULL);
    g_object_unref(session);
    g_object_unref(settings);
    Handlers *handlers = g_new0(Handlers, 1);
    handlers->link = link;
    handlers->loaded = (void (*)(void *))loaded;
    handlers->data = data;
    g_object_set_data_full(G_OBJECT(view), "cdesktop-handlers", handlers, g_free);
    g_signal_connect(view, "decide-policy", G_CALLBACK(decide), handlers);
    g_signal_connect(view, "load-changed", G_CALLBACK(changed), handlers);
    g_signal_connect(view, "context-menu", G_CALLBACK(refuse), NULL);
    g_signal_connect(view, "permission-request", G_CALLBACK(refuse), NULL);
    return view;
}

void cdesktop_web_view_load(GtkWidget *view, const void *bytes, size_t length) {
    GBytes *page = g_bytes_new(bytes, length);
    webkit.load(view, page, "text/html", "utf-8", NULL);
    g_bytes_unref(page);
}

void cdesktop_web_view_set_background(GtkWidget *view, const GdkRGBA *colour) { webkit.set_background(view, colour); }
