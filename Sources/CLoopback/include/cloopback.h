/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which user has the other end of a TCP connection within this machine, as the kernel knows it.
 *
 * Functions return 0 or a descriptor, or the negative errno of what failed.
 */
#ifndef SEARCHLIGHT_CLOOPBACK_H
#define SEARCHLIGHT_CLOOPBACK_H

#include <sys/types.h>

/* Opens a NETLINK_SOCK_DIAG socket; close-on-exec and non-blocking. */
int cloopback_open(void);

/*
 * Finds the user who created the socket at the other end of an accepted IPv4 connection over the loopback interface.
 * The socket may be of either family. Fails unless both ends are established before and after the look-up:
 * - while this end is established, no other socket can have the same pair of addresses and ports;
 * - a socket that its process has closed, or that waits (TIME_WAIT), has no owner: the kernel shows 0 for it.
 * Nothing is read from the connection.
 */
int cloopback_owner(int diag, int connection, uid_t *owner);

/* Accepts a connection; close-on-exec, non-blocking, and what is sent leaves at once. The descriptor. */
int cloopback_accept(int listener);

/* Checks that this kernel knows the user of a connection of this process. */
int cloopback_check(int diag);

#endif
