/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the user at the other end of a local TCP connection, from the kernel's socket table.
 *
 * Functions return 0 or a descriptor, or the negative errno of the failure.
 */
#ifndef SEARCHLIGHT_CLOOPBACK_H
#define SEARCHLIGHT_CLOOPBACK_H

#include <sys/types.h>

/* Opens a NETLINK_SOCK_DIAG socket; close-on-exec and non-blocking. */
int cloopback_open(void);

/*
 * Finds the user who created the socket at the other end of an accepted IPv4 connection over the
 * loopback interface. The socket may belong to either address family. Reads nothing from the
 * connection.
 *
 * Fails unless both ends are established before and after the lookup. While this end is
 * established, no other socket can have the same pair of addresses and ports. A closed socket, or
 * one in TIME_WAIT, has no owner: the kernel reports 0 for it.
 */
int cloopback_owner(int diag, int connection, uid_t *owner);

/* Accepts a connection that is close-on-exec, non-blocking and sends small writes without delay
 * (TCP_NODELAY). Returns the descriptor. */
int cloopback_accept(int listener);

/* Checks that this kernel reports the user for a connection within this process. */
int cloopback_check(int diag);

#endif
