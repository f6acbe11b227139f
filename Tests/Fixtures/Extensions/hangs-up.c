/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: closes its connection and continues. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

#include <sys/socket.h>

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    static const char junk[] = "this is not D-Bus, and it is long enough to be a header of a message";
    send(3, junk, sizeof junk, MSG_NOSIGNAL);
    for (;;) pause();
}
