/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_FILE_BIRTH_H
#define SEARCHLIGHT_FILE_BIRTH_H

#include <stdint.h>

/* Reads the creation time of an open file, as seconds and nanoseconds since 1970-01-01 UTC. Returns
 * 0; or -1, without writing anything, if the file system does not record it or the call failed.
 * Foundation returns the time of the last status change instead, and Swift does not import statx.
 * [thread-safe] */
int32_t file_birth_time(int32_t descriptor, int64_t *seconds, uint32_t *nanoseconds);

#endif
