/* SPDX-License-Identifier: Apache-2.0 */
/* Renders previews that would run scripts, load resources, navigate away or expand; the item
 * selects which. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PREVIEW preview
#include "fixture.h"

/* The beginning of a PNG that claims to have 100,000 × 100,000 pixels. */
static const char bomb[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\x86\xa0\0\1\x86\xa0\x8\6\0\0\0";
/* The same with 2 × 2 pixels. */
static const char picture[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\2\x8\6\0\0\0";

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static const char *const names[] = {"script",    "file",  "styles", "attached", "traversal", "unfolds", "wrong-type",
                                        "wrong-text", "deep", "large",  "unsafe-thumbnail"};
    enum { COUNT = sizeof names / sizeof *names };
    searchlight_item *items[COUNT];
    for (int i = 0; i < COUNT; i++) {
        items[i] = fixture_items->create(fixture_host, names[i], "hostile", "public.plain-text");
        fixture_items->set_string(items[i], "title", "Title of it");
        fixture_items->set_string(items[i], "textContent", "The ferry leaves at noon.");
        fixture_items->set_string(items[i], "thumbnailURL", "file:///proc/self/environ");
    }
    fixture_index->index_items(fixture_host, NULL, items, COUNT, fixture_acknowledge, (void *)(uintptr_t)request);
    for (int i = 0; i < COUNT; i++) fixture_items->release(items[i]);
}

static void show_page(searchlight_request request, const char *html, const searchlight_attachment *all, uint32_t count) {
    const searchlight_attachment *list[8];
    for (uint32_t i = 0; i < count; i++) list[i] = &all[i];
    searchlight_preview_reply reply = {sizeof reply, count, "public.html", "Rendered", html, strlen(html), 0, 0, list};
    fixture_requests->finish_with_preview(fixture_host, request, &reply);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)query;
    (void)content_path;
    if (strcmp(item, "script") == 0) {
        show_page(request,
                  "<p onclick=a()>the ferry<script>alert(1)</script><svg onload=alert(1)></svg><a href=\"jav&#x09;ascript:a()\">x"
                  "</a><iframe src=https://evil.example></iframe><form action=https://evil.example><input></form>"
                  "<meta http-equiv=refresh content=\"0;url=https://evil.example\"><img src=https://evil.example/x.png>",
                  NULL, 0);
    } else if (strcmp(item, "file") == 0) {
        show_page(request, "<p>x<img src=file:///etc/passwd><a href=file:///etc/passwd>y</a><img src=../../etc/passwd>", NULL, 0);
    } else if (strcmp(item, "styles") == 0) {
        show_page(request, "<style>@import '//evil.example';p{color:red;background:url(//evil.example)}</style><p>x", NULL, 0);
    } else if (strcmp(item, "attached") == 0) {
        const searchlight_attachment all[] = {{sizeof all[0], 0, "good", "public.png", picture, sizeof picture - 1},
                                              {sizeof all[0], 0, "bomb", "public.png", bomb, sizeof bomb - 1},
                                              {sizeof all[0], 0, "code", "public.png", "<svg onload=a()>", 16}};
        show_page(request, "<img src=cid:good><img src=cid:bomb><img src=code><img src=cid:../../etc/passwd>", all, 3);
    } else if (strcmp(item, "traversal") == 0) {
        const searchlight_attachment all[] = {{sizeof all[0], 0, "../../etc/passwd", "public.png", picture, sizeof picture - 1}};
        show_page(request, "<img src=cid:../../etc/passwd>", all, 1);
    } else if (strcmp(item, "unfolds") == 0) {
        fixture_show(request, "public.png", NULL, bomb, sizeof bomb - 1);
    } else if (strcmp(item, "wrong-type") == 0) {
        fixture_show(request, "public.png", NULL, "<script>alert(1)</script>", 25);
    } else if (strcmp(item, "wrong-text") == 0) {
        fixture_show(request, "public.html", NULL, "\x89PNG\r\n\x1a\n\0<p>", 12);
    } else if (strcmp(item, "deep") == 0 || strcmp(item, "large") == 0) {
        const char *piece = strcmp(item, "deep") == 0 ? "<div><svg><b a=\"" : "<p title='&&&&&&&&'>&&&&&&&&\"<>";
        size_t length = strlen(piece), count = (16u << 20) / length;
        char *page = malloc(count * length + 1);
        for (size_t i = 0; i < count; i++) memcpy(page + i * length, piece, length + 1);
        show_page(request, page, NULL, 0);
        free(page);
    } else {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, NULL);
    }
}
