/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: never returns from create. */
#include "searchlight_extension.h"

static searchlight_status hang(const searchlight_host *host, searchlight_extension **extension, char *error,
                               size_t error_capacity);
#define FIXTURE_CREATE hang
#include "fixture.h"

static searchlight_status hang(const searchlight_host *host, searchlight_extension **extension, char *error,
                               size_t error_capacity) {
    (void)host;
    (void)extension;
    (void)error;
    (void)error_capacity;
    for (;;) pause();
}
