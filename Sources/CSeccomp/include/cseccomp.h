/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libseccomp, opened on first use.
 *
 * Only a process that starts workers needs the library. A command that merely searches starts
 * without loading it. The functions have the names and types that <seccomp.h> declares, and may be
 * called on any thread if the library allows it.
 *
 * If the library cannot be opened, seccomp_init returns NULL, names of system calls are unknown,
 * and the other functions fail with -ENOSYS. cseccomp_problem returns the reason.
 */
#ifndef SEARCHLIGHT_CSECCOMP_H
#define SEARCHLIGHT_CSECCOMP_H

#include <seccomp.h>

/* Opens the library. Returns NULL, or the reason why it cannot be used, which remains valid. */
const char *cseccomp_problem(void);

#endif
