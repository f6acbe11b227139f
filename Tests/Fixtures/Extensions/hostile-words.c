/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints and donates only text with escape sequences, C1 controls and direction overrides. Its
 * reindex fails while the configuration folder contains a file named “fail”.
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#define FIXTURE_PREVIEW preview
#include "fixture.h"

/* ESC [, CSI as one character, OSC with its terminator, right-to-left override, and a line that
 * pretends to come from the host. */
#define EVIL "\x1b[31mred \xc2\x9b" "2J \x1b]0;owned\x07 \xe2\x80\xae" "cod.exe\nsearchlight: all is well"

static volatile double zero = 0;

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096];
    snprintf(path, sizeof path, "%s/fail", getenv("XDG_CONFIG_HOME"));
    if (access(path, F_OK) == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "failed: " EVIL);
        return;
    }
    for (int i = 0; i < 1500; i++) fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "note " EVIL);
    fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, "summary of all");
    const char *identifiers[] = {"plain", "crash", "unsupported", "page", EVIL};
    searchlight_item *timeless = fixture_items->create(fixture_host, "timeless", "fixture", "public.plain-text");
    fixture_items->set_date(timeless, "contentCreationDate", 1e300);
    fixture_items->set_date(timeless, "contentModificationDate", 0.0 / zero);
    fixture_index->index_items(fixture_host, NULL, &timeless, 1, NULL, NULL);
    fixture_items->release(timeless);
    for (int i = 0; i < 4; i++) fixture_donate(identifiers[i], EVIL, "evil " EVIL, NULL, NULL);
    fixture_donate(EVIL, EVIL, "evil " EVIL, fixture_acknowledge, (void *)(uintptr_t)request);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)type;
    if (strcmp(item, "crash") == 0) {
        fprintf(stderr, "last words " EVIL "\n");
        raise(SIGSEGV);
    }
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_REFUSED, "refused: " EVIL);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    (void)extension;
    (void)query;
    (void)content_path;
    if (strcmp(item, "unsupported") == 0) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_UNSUPPORTED, "no: " EVIL);
    } else if (strcmp(item, "page") == 0) {
        const char page[] = "<meta http-equiv=refresh content=0><p>page " EVIL "</p>";
        fixture_show(request, "public.html", EVIL, page, sizeof page - 1);
    } else if (strcmp(item, "plain") == 0) {
        fixture_show(request, "text/" EVIL, EVIL, "text", 4);
    } else {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "failed: " EVIL);
    }
}
