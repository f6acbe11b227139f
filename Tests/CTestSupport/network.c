/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctestsupport.h"

/* Assigns an address to an interface or one of its aliases, and activates it. */
static int set_address(int control, const char *name, const char *text) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    struct sockaddr_in *address = (struct sockaddr_in *)&request.ifr_addr;
    address->sin_family = AF_INET;
    if (inet_pton(AF_INET, text, &address->sin_addr) != 1) return EINVAL;
    if (ioctl(control, SIOCSIFADDR, &request) != 0) return errno;
    inet_pton(AF_INET, "255.255.255.0", &address->sin_addr);
    return ioctl(control, SIOCSIFNETMASK, &request) == 0 ? 0 : errno;
}

int ctestsupport_enter_own_network(const char *const *addresses, int count) {
    if (unshare(CLONE_NEWNET) != 0) return errno;
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0) return errno;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    int error = ioctl(control, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
    for (int i = 0; error == 0 && i < count; i++) {
        char name[IFNAMSIZ];
        snprintf(name, sizeof name, "lo:%d", i + 1);
        error = set_address(control, name, addresses[i]);
    }
    close(control);
    return error;
}
