/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CTESTSUPPORT_H
#define SEARCHLIGHT_CTESTSUPPORT_H

#include <spawn.h>

/* Has a program that is started keep the three standard descriptors only. 0, or an errno. */
int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions);

#endif
