/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how symbolic links affect a path, once per reindex. The file marks/BUNDLE.target contains
 * one test per line. The results are printed as "LINKS THING: ERROR" (0: success).
 *
 *   tower LINKS TIMES   a dangling link behind LINKS others, each of which names the next TIMES times
 *   deep BYTES          a path of BYTES bytes that does not exist
 *   write PATH          creates a file
 *   read PATH           opens a file
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>

static void tell(const char *thing, int descriptor) {
    fprintf(stderr, "LINKS %s: %d\n", thing, descriptor < 0 ? errno : 0);
    if (descriptor >= 0) close(descriptor);
}

static void tower(const char *thing, int links, int times) {
    char target[4096], path[4096];
    for (int link = 0; link < links; link++) {
        size_t used = 0;
        for (int i = 0; i < times; i++)
            used += (size_t)snprintf(target + used, sizeof target - used, "%sl%d", i ? "/../" : "", link + 1);
        snprintf(path, sizeof path, "%s/l%d", getenv("TMPDIR"), link);
        if (symlink(target, path) != 0) {
            tell(thing, -1);
            return;
        }
    }
    snprintf(path, sizeof path, "%s/l0", getenv("TMPDIR"));
    tell(thing, open(path, O_CREAT | O_WRONLY, 0600));
}

static void deep(const char *thing, size_t bytes) {
    char path[4096];
    size_t used = (size_t)snprintf(path, sizeof path, "%s", getenv("TMPDIR"));
    while (used + 2 <= bytes && used + 3 < sizeof path) used += (size_t)snprintf(path + used, 3, "/x");
    for (int i = 0; i < 20; i++) tell(thing, open(path, O_CREAT | O_WRONLY, 0600));
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096], line[4096];
    fixture_mark(path, sizeof path, "target");
    FILE *things = fopen(path, "r");
    while (things && fgets(line, sizeof line, things)) {
        int links, times;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "tower %d %d", &links, &times) == 2) tower(line, links, times);
        if (strncmp(line, "deep ", 5) == 0) deep(line, (size_t)atoi(line + 5));
        if (strncmp(line, "write ", 6) == 0) tell(line, open(line + 6, O_CREAT | O_WRONLY, 0600));
        if (strncmp(line, "read ", 5) == 0) tell(line, open(line + 5, O_RDONLY));
    }
    if (things) fclose(things);
    fixture_donate("one", "One", "x", fixture_acknowledge, (void *)(uintptr_t)request);
}
