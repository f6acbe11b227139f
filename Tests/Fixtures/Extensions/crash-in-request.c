/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: crashes in every request. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_PROVIDE_DATA provide_data
#include "fixture.h"

static void crash(void *context, searchlight_status status, const char *message) {
    (void)context;
    (void)status;
    (void)message;
    raise(SIGSEGV);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    fixture_donate("one", "One", "donated before the crash", crash, NULL);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    (void)extension;
    (void)request;
    (void)item;
    (void)type;
    raise(SIGSEGV);
}
