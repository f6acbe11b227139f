/* SPDX-License-Identifier: Apache-2.0 */
#include "file_birth.h"

#include <fcntl.h>
#include <sys/stat.h>

int32_t file_birth_time(int32_t descriptor, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)) {
        return -1;
    }
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}
