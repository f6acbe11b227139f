/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight-worker: the process that loads one extension.
 *
 * Only the host starts it, with the connection at descriptor 3 and the policy at descriptor 4. It
 * starts in C because privileges must be dropped while the process has a single thread, and the
 * Swift runtime may start others. Before that, cstart.h has checked the resource limits.
 */
#include <fcntl.h>
#include <nss.h>
#include <stdio.h>
#include <string.h>

#include "cbuildfacts.h"
#include "csandbox.h"
#include "cstart.h"

extern int searchlight_worker_main(void);

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("searchlight-worker " SEARCHLIGHT_VERSION);
        return 0;
    }
    if (argc != 1 || fcntl(CSANDBOX_CONNECTION_FD, F_GETFD) < 0 || fcntl(CSANDBOX_POLICY_FD, F_GETFD) < 0) {
        fputs("searchlight-worker is started by searchlight, which gives it a connection; it is of no use alone.\n"
              "To try an extension, run: searchlight reindex BUNDLE --extensions DIR\n",
              stderr);
        return 64; /* EX_USAGE */
    }
    /* The connection identifies this process. A program that this process starts must not
     * inherit the connection. */
    fcntl(CSANDBOX_CONNECTION_FD, F_SETFD, FD_CLOEXEC);
    /* Look up users and groups only in files. Foundation looks them up for each call to
     * attributesOfItem. A name service would need a socket, which the sandbox denies, and the
     * denial would be reported to authors who never used a socket. */
    __nss_configure_lookup("passwd", "files");
    __nss_configure_lookup("group", "files");
    const char *step = "";
    int error = csandbox_restrict_self(&step);
    if (error != 0) {
        fprintf(stderr, "searchlight-worker: %s failed: %s\n", step, strerror(error));
        return CSTART_STATUS;
    }
    csandbox_print_lines();
    return searchlight_worker_main();
}
