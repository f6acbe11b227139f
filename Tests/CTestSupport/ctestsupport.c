/* SPDX-License-Identifier: Apache-2.0 */
#include "ctestsupport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

int ctestsupport_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int ctestsupport_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : errno; }

int ctestsupport_set_access_list(const char *path, const void *list, size_t size) {
    return setxattr(path, "system.posix_acl_access", list, size, 0) == 0 ? 0 : errno;
}

/* Limits the number of concurrent tests, unless the environment sets a limit. Without one, Swift
 * Testing starts all tests at once. With thousands of open descriptors, Foundation's Process reads
 * past the end of a folder's listing. */
__attribute__((constructor)) static void bound_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "12", 0);
}
