/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: writes BYTES directly to its connection, then continues as if nothing had happened. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "../fixture.h"

#include <sys/socket.h>

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    static const char bytes[] = BYTES;
    send(3, bytes, sizeof bytes - 1, MSG_NOSIGNAL);
    fixture_donate("one", "One", "text", fixture_acknowledge, (void *)(uintptr_t)request);
}
