/* SPDX-License-Identifier: Apache-2.0 */
#include "ctestsupport.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <sys/socket.h>

int ctestsupport_socket_of(unsigned int user, int family) {
    /* Affects only this thread. */
    int own = setfsuid(user);
    if (setfsuid((unsigned int)-1) != (int)user) return -EPERM;
    int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = made >= 0 ? made : -errno;
    setfsuid((unsigned int)own);
    return result;
}

int ctestsupport_act_on_files_as(unsigned int user) { return setfsuid(user); }
