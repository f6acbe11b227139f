/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_FILE_BIRTH_H
#define SEARCHLIGHT_FILE_BIRTH_H

#include <stdint.h>

/* When the open file was created, as seconds and nanoseconds since 1970-01-01 UTC. Returns 0, or -1 if the file system
 * keeps no such time or the call failed; then nothing is written. Foundation answers a file's creation date with the
 * time of its last status change, and statx is hidden from Swift. [thread-safe] */
int32_t file_birth_time(int32_t descriptor, int64_t *seconds, uint32_t *nanoseconds);

#endif
