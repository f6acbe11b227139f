/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight-worker: the process that loads one extension.
 *
 * Only the host starts it, with the connection at descriptor 3 and the policy at descriptor 4. It
 * starts in C, because rights must be given up while the process has a single thread, and Swift's
 * runtime may start others. cstart.h has checked its resource limits before.
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
    /* The connection identifies this process. No program that it might start may inherit it. */
    fcntl(CSANDBOX_CONNECTION_FD, F_SETFD, FD_CLOEXEC);
    /* Users and groups are only looked up in files. Foundation looks them up for each
     * attributesOfItem. A name service would need a socket, which the sandbox denies. The denial
     * would be reported to an author who never used a socket. */
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
