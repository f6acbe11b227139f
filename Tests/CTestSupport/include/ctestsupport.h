/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CTESTSUPPORT_H
#define SEARCHLIGHT_CTESTSUPPORT_H

#include <spawn.h>
#include <stddef.h>

/* Has a program that is started keep the three standard descriptors only. 0, or an errno. */
int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions);

/* Puts each of two files or folders in the other's place, so that at no moment either is missing. 0, or an errno. */
int ctestsupport_exchange(const char *one, const char *other);

/* Makes this process the parent of those below it whose own parent ends. 0, or an errno. */
int ctestsupport_adopt_orphans(void);

/*
 * A TCP socket that counts as another user's: the kernel notes who this thread acts as when a socket is made. For root only.
 * The descriptor, or a negative errno.
 */
int ctestsupport_socket_of(unsigned int user, int family);

/*
 * Puts this thread alone into a network of its own, whose loopback interface has these addresses of IPv4, each in a network of 24 bits.
 * For root only. 0, or an errno.
 */
int ctestsupport_enter_own_network(const char *const *addresses, int count);

/* Has this thread alone act on files with the rights of a user. For root only. The user before. */
int ctestsupport_act_on_files_as(unsigned int user);

/* Sets the POSIX access list of a file or folder, in the form in which the kernel stores it. 0, or an errno. */
int ctestsupport_set_access_list(const char *path, const void *list, size_t size);

#endif
