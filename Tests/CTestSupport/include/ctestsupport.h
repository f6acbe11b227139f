/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CTESTSUPPORT_H
#define SEARCHLIGHT_CTESTSUPPORT_H

#include <spawn.h>
#include <stddef.h>

/* Makes a spawned program inherit only the three standard descriptors. Returns 0 or an errno. */
int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions);

/* Exchanges two files or folders in one atomic step (RENAME_EXCHANGE). Returns 0 or an errno. */
int ctestsupport_exchange(const char *one, const char *other);

/* Makes this process the parent of its descendants whose own parent ends. Returns 0 or an errno. */
int ctestsupport_adopt_orphans(void);

/*
 * Creates a TCP socket that belongs to another user: the kernel records the user of this thread at
 * the creation of a socket. For root only. Returns the descriptor, or a negative errno.
 */
int ctestsupport_socket_of(unsigned int user, int family);

/*
 * Moves only this thread into a new network namespace. Its loopback interface has these IPv4
 * addresses, each in a /24 network. For root only. Returns 0 or an errno.
 */
int ctestsupport_enter_own_network(const char *const *addresses, int count);

/* Makes only this thread access files with the rights of a user. For root only. Returns the
 * previous user. */
int ctestsupport_act_on_files_as(unsigned int user);

/* Sets the POSIX access list of a file or folder, in the kernel's storage format. Returns 0 or an
 * errno. */
int ctestsupport_set_access_list(const char *path, const void *list, size_t size);

#endif
