/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints before each answer, in the way that the item's name selects, and answers immediately. The
 * last word is the number of the request.
 */
#include "searchlight_extension.h"

static void provide(searchlight_extension *extension, searchlight_request request, const char *item, const char *type);
#define FIXTURE_PROVIDE_DATA provide
#include "fixture.h"

static void provide(searchlight_extension *extension, searchlight_request request, const char *item, const char *type) {
    (void)extension;
    (void)type;
    const char *space = strrchr(item, ' ');
    const char *number = space ? space + 1 : "";
    if (strncmp(item, "lines", 5) == 0) {
        fprintf(stderr, "error %s\n", number);
        printf("output %s\n", number);
        /* Without a line end, into the C library's buffer. */
        printf("rest %s", number);
    } else if (strncmp(item, "many", 4) == 0) {
        for (int i = 0; i < 400; i++) printf("line %d of %s, which fills more than one buffer of a pipe\n", i, number);
        fprintf(stderr, "last %s", number);
    } else if (strncmp(item, "long", 4) == 0) {
        for (int i = 0; i < 5000; i++) fputc('x', stdout);
        putchar('\n');
    } else if (strncmp(item, "crash", 5) == 0) {
        printf("before the end\n");
        fprintf(stderr, "without an end");
        raise(SIGKILL);
    } else if (strncmp(item, "fail", 4) == 0) {
        printf("why %s", number);
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "on purpose");
        return;
    }
    fixture_requests->finish_with_data(fixture_host, request, "data", 4);
}
