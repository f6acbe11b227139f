/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: cannot be created, and reports the reason. */
#include "searchlight_extension.h"

static searchlight_status refuse(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity);
#define FIXTURE_CREATE refuse
#include "fixture.h"

static searchlight_status refuse(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity) {
    (void)host;
    (void)extension;
    snprintf(error, error_capacity, "the database is locked");
    return SEARCHLIGHT_FAILED;
}
