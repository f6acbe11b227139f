/* SPDX-License-Identifier: Apache-2.0 */
/* Renders its items as documents that no browser can display in a page. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PREVIEW preview
#include "fixture.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    fixture_donate("pdf", "A report", "", NULL, NULL);
    fixture_donate("rich", "A letter", "", NULL, NULL);
    fixture_donate("blank", "A blank letter", "", fixture_acknowledge, (void *)(uintptr_t)request);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension, (void)query, (void)content_path;
    static const char pdf[] = "%PDF-1.7 of a report";
    static const char rich[] = "{\\rtf1\\ansi{\\fonttbl{\\f0 Times;}}The <b>\\b ferry\\b0  leaves\\par at noon}";
    static const char blank[] = "{\\rtf1\\ansi{\\info{\\title Secret}}}";
    switch (item[0]) {
    case 'p': fixture_show(request, "com.adobe.pdf", NULL, pdf, sizeof pdf - 1); break;
    case 'r': fixture_show(request, "public.rtf", NULL, rich, sizeof rich - 1); break;
    default: fixture_show(request, "public.rtf", NULL, blank, sizeof blank - 1);
    }
}
