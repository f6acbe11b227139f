/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: calls a function that no library provides. */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "../fixture.h"

extern void searchlight_function_that_nobody_has(void);

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    (void)request;
    searchlight_function_that_nobody_has();
}
