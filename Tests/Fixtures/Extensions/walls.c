/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several hundred attempts to escape from the sandbox. A group has one theme and at most 60
 * attempts, because the host reports at most 64 different attempts per worker. The file
 * marks/BUNDLE.target names the group and its targets.
 *
 * The results are in marks/BUNDLE.results, as lines "CODE<tab>EXPECTED<tab>NAME". CODE is 0 if the
 * attempt gained access, otherwise the error. It is "?" before an attempt, so that an attempt that
 * terminates the worker is recorded. EXPECTED is a part of the host's report; or "-" and the reason
 * why there is no report; or "!" and how the worker exits.
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <utime.h>

/* The targets: the home folder, another app's folder in it with f0… and d0…, a listening socket
 * there, the ports of sockets that listen on all addresses, and addresses of this machine, or
 * "-". */
static char group[64], home[1024], outside[2048], local_socket[256], own4[64], own6[64];
static int tcp_port, udp_port;
static pid_t host;
static const char *temporary;
static FILE *results;
static int next_file, next_folder;

static char wanted[8192];

/* Sets the expected report for the following attempts. */
__attribute__((format(printf, 1, 2))) static void want(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    /* The last line of a group that terminated the worker. */
    fprintf(results, "?\t%s\t%s\n", wanted, group);
    fflush(results);
}

/* The host terminates an extension that prints nothing for several seconds. */
static void sign_of_life(void) {
    static time_t last;
    if (time(NULL) == last) return;
    last = time(NULL);
    fprintf(stderr, "walls %s\n", group);
}

/* Records the result of an attempt: a negative result with errno, or a success. */
__attribute__((format(printf, 2, 3))) static void tell(long result, const char *format, ...) {
    int code = result < 0 ? errno : 0;
    char name[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    fprintf(results, "%d\t%s\t%s: %s\n", code, wanted, group, name);
    fflush(results);
    sign_of_life();
}

static char *format_path(const char *format, ...) {
    static char paths[16][4096];
    static int next;
    char *path = paths[next++ % 16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, 4096, format, arguments);
    va_end(arguments);
    return path;
}

/* A different file or folder of the other app for each attempt, so that the reports are distinguishable. */
static const char *file(void) { return format_path("%s/f%d", outside, next_file++); }
static const char *folder(void) { return format_path("%s/d%d", outside, next_folder++); }
static const char *own(const char *name) { return format_path("%s/%s", temporary, name); }
static const char *base(const char *path) { return strrchr(path, '/') + 1; }

struct how {
    uint64_t flags, mode, resolve;
};
static long open_how(int at, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve) {
    struct how how = {flags, mode, resolve};
    return syscall(437, at, path, &how, sizeof how);
}

#include "walls/files.h"
#include "walls/kernel.h"
#include "walls/network.h"
#include "walls/processes.h"
#include "walls/resources.h"
#include "walls/gauge.h"

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    {"read", files_read}, {"read-places", files_read_places}, {"list", files_list}, {"write", files_write},
    {"write-own", files_write_granted}, {"make", files_make}, {"move", files_move}, {"special", files_special},
    {"attributes", files_attributes}, {"modes", files_modes}, {"proc-host", processes_proc_host},
    {"proc-init", processes_proc_init}, {"proc-links", processes_proc_links}, {"signals", processes_signals},
    {"priorities", processes_priorities}, {"tracing", processes_tracing}, {"tables", processes_tables}, {"programs", processes_programs},
    {"namespaces", kernel_namespaces}, {"keys", kernel_facilities}, {"identity", kernel_identity},
    {"prctl", kernel_prctl}, {"descriptors", kernel_descriptors}, {"unknown", kernel_unknown}, {"x32", kernel_x32}, {"i386", kernel_i386}, {"code", kernel_code},
    {"sockets-1", network_families_1}, {"sockets-2", network_families_2}, {"pairs", network_pairs},
    {"offline", network_addresses}, {"loopback", network_addresses}, {"servers", network_servers},
    {"per-user", resources_per_user}, {"memory", resources_memory}, {"disk", resources_disk},
    {"in-flight", resources_in_flight}, {"bytes", resources_bytes}, {"bytes-removed", resources_bytes_removed},
    {"bytes-nameless", resources_bytes_nameless}, {"bytes-deep", resources_bytes_deep},
    {"bytes-mapped", resources_bytes_mapped},
    /* GaugeTests */
    {"main-thread", gauge_main_thread}, {"closed-folder", gauge_closed_folder}, {"closed-files", gauge_closed_files},
    {"closed-memory", gauge_closed_memory}, {"closed-pieces", gauge_closed_pieces}, {"mapped-page", gauge_mapped_page},
    {"unmapped", gauge_unmapped}, {"mapped-files", gauge_mapped_files}, {"far", gauge_far}, {"third", gauge_in_flight},
    {"flying", gauge_flying}, {"locks", gauge_locks}, {"locks-of-file", gauge_locks_of_file}, {"burst", gauge_burst},
    {"allocated", gauge_allocated}, {"window", gauge_window},
};

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096];
    fixture_mark(path, sizeof path, "target");
    FILE *target = fopen(path, "r");
    if (target == NULL || fscanf(target, "%63s %1023s %2047s %255s %d %d %63s %63s", group, home, outside, local_socket,
                                 &tcp_port, &udp_port, own4, own6) != 8) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "no target");
        return;
    }
    fclose(target);
    fixture_mark(path, sizeof path, "results");
    results = fopen(path, "we");
    host = getppid();
    temporary = getenv("TMPDIR");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].name, group) == 0) groups[i].run();
    fprintf(results, "end\n");
    fclose(results);
    fixture_donate("one", "One", "the end", fixture_acknowledge, (void *)(uintptr_t)request);
}
