/* SPDX-License-Identifier: Apache-2.0 */
/* Renders every preview incorrectly. WAY is one of the functions below. */
#include "searchlight_extension.h"

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_PREVIEW preview
#include "../fixture.h"

#include "faults.h"

#define WAY_FUNCTION FAULT_FUNCTION

static void reply(searchlight_request request, searchlight_preview_reply value) {
    fixture_requests->finish_with_preview(fixture_host, request, &value);
}

static searchlight_preview_reply page(void) {
    searchlight_preview_reply value = {sizeof value, 0, "public.html", "A page", "<p>page", 7, 0, 0, NULL};
    return value;
}

WAY_FUNCTION a_gibibyte(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.length = (size_t)1 << 30;
    value.bytes = mmap(NULL, value.length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (value.bytes == MAP_FAILED) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_TOO_LARGE, "no gibibyte to be had");
        return;
    }
    reply(request, value);
}

WAY_FUNCTION unknown_type(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.content_type = "com.example.program";
    reply(request, value);
}

WAY_FUNCTION no_type(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.content_type = NULL;
    reply(request, value);
}

WAY_FUNCTION no_size(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.size = 0;
    reply(request, value);
}

WAY_FUNCTION negative_length(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.length = SIZE_MAX;
    reply(request, value);
}

WAY_FUNCTION malformed_texts(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.title = "\xff\xfe";
    value.width = 0.0 / fault_zero;
    value.height = -1.0 / fault_zero;
    reply(request, value);
}

static void attach(searchlight_request request, const searchlight_attachment *all, uint32_t count) {
    const searchlight_attachment **list = calloc(count, sizeof *list);
    for (uint32_t i = 0; i < count; i++) list[i] = &all[i];
    searchlight_preview_reply value = page();
    value.attachment_count = count;
    value.attachments = list;
    reply(request, value);
    free(list);
}

WAY_FUNCTION ten_thousand_attachments(searchlight_request request) {
    enum { COUNT = 10000 };
    static searchlight_attachment all[COUNT];
    static char names[COUNT][16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "part-%d", i);
        all[i] = (searchlight_attachment){sizeof all[i], 0, names[i], "public.png", "x", 1};
    }
    attach(request, all, COUNT);
}

WAY_FUNCTION attachments_of_nowhere(searchlight_request request) {
    searchlight_preview_reply value = page();
    value.attachment_count = 3;
    reply(request, value);
}

WAY_FUNCTION an_attachment_that_leads_out(searchlight_request request) {
    const searchlight_attachment all[] = {{sizeof all[0], 0, "../../etc/passwd", "public.png", "x", 1}};
    attach(request, all, 1);
}

WAY_FUNCTION an_attachment_without_name(searchlight_request request) {
    const searchlight_attachment all[] = {{sizeof all[0], 0, NULL, NULL, NULL, 5}};
    attach(request, all, 1);
}

WAY_FUNCTION one_name_twice(searchlight_request request) {
    const searchlight_attachment all[] = {{sizeof all[0], 0, "part", "public.png", "x", 1},
                                          {sizeof all[0], 0, "part", "public.jpeg", "yy", 2}};
    attach(request, all, 2);
}

WAY_FUNCTION attachments_too_large(searchlight_request request) {
    enum { LENGTH = 20 << 20 };
    char *bytes = calloc(1, LENGTH);
    const searchlight_attachment all[] = {{sizeof all[0], 0, "one", "public.png", bytes, LENGTH},
                                          {sizeof all[0], 0, "two", "public.png", bytes, LENGTH}};
    attach(request, all, 2);
    free(bytes);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)item;
    (void)query;
    (void)content_path;
    WAY(request);
}
