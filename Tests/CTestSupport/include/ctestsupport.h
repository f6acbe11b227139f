/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CTESTSUPPORT_H
#define SEARCHLIGHT_CTESTSUPPORT_H

#include <spawn.h>
#include <stddef.h>

/* Makes a spawned program inherit only the three standard descriptors. Returns 0 or an errno. */
int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions);

/* Exchanges two files or folders atomically (RENAME_EXCHANGE). Returns 0 or an errno. */
int ctestsupport_exchange(const char *one, const char *other);

/* Makes this process the parent of its descendants whose own parents exit. Returns 0 or an
 * errno. */
int ctestsupport_adopt_orphans(void);

/*
 * Creates a TCP socket that belongs to another user, because the kernel records this thread's user
 * when a socket is created. Requires root. Returns the descriptor, or a negative errno.
 */
int ctestsupport_socket_of(unsigned int user, int family);

/*
 * Moves only this thread to a new network namespace, whose loopback interface has these IPv4
 * addresses, each in a /24 network. Requires root. Returns 0 or an errno.
 */
int ctestsupport_enter_own_network(const char *const *addresses, int count);

/* Makes only this thread access files with a user's rights. Requires root. Returns the previous
 * user. */
int ctestsupport_act_on_files_as(unsigned int user);

/* Sets the POSIX access list of a file or folder, in the kernel's storage format. Returns 0 or an
 * errno. */
int ctestsupport_set_access_list(const char *path, const void *list, size_t size);

#endif
