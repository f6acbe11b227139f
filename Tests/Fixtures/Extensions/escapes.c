/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to leave the sandbox in every way it knows, once per reindex, through the C library and
 * around it, and prints the result of each attempt: "ATTEMPT NAME: ERROR" (0: it succeeded). The
 * targets are in the file marks/BUNDLE.target.
 */
#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
#define FIXTURE_REINDEX_ALL reindex_all
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <signal.h>
#include <time.h>

static char home[2048], secret[4096], outside[4096], name[4096], path[8192];
static int port;
static pid_t host;

static void tell(const char *attempt, long result) {
    fprintf(stderr, "ATTEMPT %s: %d\n", attempt, result < 0 ? errno : 0);
}

static const char *at(const char *format, long number) {
    snprintf(path, sizeof path, format, number);
    return path;
}

static const char *below(const char *folder, const char *rest) {
    snprintf(path, sizeof path, "%s/%s", folder, rest);
    return path;
}

static void files(void) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDONLY, 0, 0};
    char link_path[5000];
    tell("read another app's file", open(secret, O_RDONLY));
    tell("read it by a raw call", syscall(SYS_open, secret, O_RDONLY));
    tell("read it by openat2", syscall(437, AT_FDCWD, secret, &how, sizeof how));
    tell("read it through another thread's root", open(at("/proc/self/task/%ld/root/etc/shadow", (long)gettid()), O_RDONLY));
    snprintf(link_path, sizeof link_path, "%s/link", getenv("TMPDIR"));
    tell("make a link of its own", symlink(secret, link_path));
    tell("read it through a link", open(link_path, O_RDONLY));
    tell("list its folder", open(outside, O_RDONLY | O_DIRECTORY));
    tell("list the home folder", open(home, O_RDONLY | O_DIRECTORY));
    tell("write outside", open(below(outside, "new"), O_WRONLY | O_CREAT, 0600));
    tell("make a folder outside", mkdir(below(outside, "folder"), 0700));
    tell("delete outside", unlink(secret));
    tell("move outside", rename(secret, below(outside, "moved")));
    tell("link outside", link(secret, below(getenv("TMPDIR"), "hard")));
    tell("truncate outside", truncate(secret, 0));
    tell("change the mode outside", chmod(secret, 0666));
    tell("change the owner outside", chown(secret, 65534, 65534));
    tell("change the dates outside", utimensat(AT_FDCWD, secret, NULL, 0));
    tell("change the attributes outside", setxattr(secret, "user.x", "y", 1, 0));
    char attribute[64];
    tell("read the attributes outside", getxattr(secret, "user.x", attribute, sizeof attribute));
    tell("list the attributes outside", listxattr(secret, attribute, sizeof attribute));
    tell("list the attributes of a link outside", llistxattr(secret, attribute, sizeof attribute));
    int own = open(below(getenv("TMPDIR"), "own"), O_RDWR | O_CREAT, 0600);
    tell("write in its own folder", own);
    tell("change the mode of its own file", fchmod(own, 0644));
    tell("make a file to run as its owner", open(below(getenv("TMPDIR"), "set-id"), O_RDWR | O_CREAT, 04755));
    tell("make one without a name", open(getenv("TMPDIR"), O_RDWR | O_TMPFILE, 06755));
    tell("make a pipe with a name", mkfifo(below(getenv("TMPDIR"), "pipe"), 0600));
    tell("make a socket with a name", mknod(below(getenv("TMPDIR"), "socket"), S_IFSOCK | 0600, 0));
    tell("leave a whiteout behind", syscall(SYS_renameat2, AT_FDCWD, below(getenv("TMPDIR"), "own"), AT_FDCWD,
                                            strcat(strcpy(link_path, getenv("TMPDIR")), "/moved"), 4));
    tell("list the attributes of its own file", listxattr(below(getenv("TMPDIR"), "own"), attribute, sizeof attribute));
    tell("make one by mknod", mknod(below(getenv("TMPDIR"), "set-id"), S_IFREG | 02755, 0));
    how.flags = O_RDWR | O_CREAT;
    how.mode = 04755;
    tell("make one by openat2", syscall(437, AT_FDCWD, below(getenv("TMPDIR"), "set-id"), &how, sizeof how));
    int bundle = open(below(fixture_host->bundle_path, "Info.plist"), O_RDONLY);
    tell("read its bundle", bundle);
    tell("change the mode of a file it reads", fchmod(bundle, 0666));
    tell("change its bundle", open(below(fixture_host->bundle_path, "Info.plist"), O_WRONLY));
    tell("open a descriptor again to write", open(at("/proc/self/fd/%ld", bundle), O_RDWR));
    tell("watch a folder", syscall(SYS_inotify_init1, 0));
}

static void network(void) {
    struct sockaddr_in internet = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(local.sun_path, sizeof local.sun_path, "%.100s", name);
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    tell("connect by TCP", tcp < 0 ? tcp : connect(tcp, (struct sockaddr *)&internet, sizeof internet));
    int udp = socket(AF_INET6, SOCK_DGRAM, 0);
    tell("send by UDP", udp);
    int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
    tell("connect to a socket by its path",
         unix_socket < 0 ? unix_socket : connect(unix_socket, (struct sockaddr *)&local, sizeof local));
    tell("make a raw socket", syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0));
    int pair[2] = {-1, -1};
    tell("make a pair of datagram sockets", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    int stream[2] = {-1, -1};
    tell("make a pair of stream sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
    memset(&local.sun_path, 0, sizeof local.sun_path);
    memcpy(local.sun_path + 1, "searchlight-test", 16);
    tell("connect to an abstract socket",
         connect(stream[0], (struct sockaddr *)&local, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 17)));
}

static void *idle(void *context) { return context; }

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *context) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return context;
}

/* As many threads as possible; they exit before the next attempt. */
static void threads(void) {
    static pthread_t started[4096];
    int count = 0, error = 0;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_mutex_lock(&gate);
    while (count < 4096 && (error = pthread_create(&started[count], &small, wait_at_gate, NULL)) == 0) count++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++) pthread_join(started[i], NULL);
    pthread_attr_destroy(&small);
    errno = error;
    tell("start threads without end", error == 0 ? 0 : -1);
}

static void processes(void) {
    char *arguments[] = {(char *)"true", NULL}, *none[] = {NULL};
    pid_t child = fork();
    if (child == 0) _exit(0);
    tell("fork", child);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    tell("clone", child);
    tell("run a program", execve("/bin/true", arguments, none));
    int program = open("/usr/bin/true", O_RDONLY);
    threads();
    tell("run an open program", syscall(SYS_execveat, program, "", arguments, none, 0x1000));
    int memory = (int)syscall(SYS_memfd_create, "code", 0);
    tell("make a program in memory", memory);
    tell("trace the host", ptrace(PTRACE_ATTACH, host, 0, 0));
    tell("end the host", kill(host, SIGKILL));
    tell("stop everybody", kill(-1, SIGSTOP));
    tell("signal a thread of the host", syscall(SYS_tgkill, host, host, SIGTERM));
    tell("signal by tkill", syscall(SYS_tkill, host, SIGTERM));
    tell("see whether the host is there", kill(host, 0));
    tell("slow down the host", setpriority(PRIO_PROCESS, (id_t)host, 19));
    tell("slow down a group", setpriority(PRIO_PGRP, 0, 19));
    tell("slow down a user", setpriority(PRIO_USER, 0, 19));
    tell("look at the priority of a user", getpriority(PRIO_USER, 0) == -1 ? -1 : 0);
    tell("limit the host", syscall(SYS_prlimit64, host, RLIMIT_NOFILE, NULL, NULL));
    struct timespec time;
    tell("look at the host's processor time", clock_gettime((clockid_t)((~(unsigned)host << 3) | 2), &time));
    char word[8];
    struct iovec here = {word, sizeof word}, there = {(void *)(uintptr_t)0x400000, sizeof word};
    tell("read the host's memory", process_vm_readv(host, &here, 1, &there, 1, 0));
    tell("refer to the host", syscall(434, host, 0));
    tell("open the host's memory", open(at("/proc/%ld/mem", host), O_RDWR));
    tell("open the host's variables", open(at("/proc/%ld/environ", host), O_RDONLY));
    tell("read the host's command line", open(at("/proc/%ld/cmdline", host), O_RDONLY));
    tell("read the host's status", open(at("/proc/%ld/status", host), O_RDONLY));
    tell("list the host's descriptors", open(at("/proc/%ld/fd", host), O_RDONLY | O_DIRECTORY));
    tell("list the processes", open("/proc", O_RDONLY | O_DIRECTORY));
    tell("read who uses the network", open("/proc/self/net/tcp", O_RDONLY));
    tell("write to its own memory as a file", open("/proc/self/mem", O_RDWR));
    tell("list its own descriptors", open("/proc/self/fd", O_RDONLY | O_DIRECTORY));
    tell("read its own maps", open("/proc/thread-self/maps", O_RDONLY));
    tell("open the host's descriptors", open(at("/proc/%ld/fd/0", host), O_RDONLY));
    tell("leave its group", setsid());
    pthread_t thread;
    errno = pthread_create(&thread, NULL, idle, NULL);
    tell("start a thread", errno == 0 ? 0 : -1);
    if (errno == 0) pthread_join(thread, NULL);
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    tell("raise its memory limit", setrlimit(RLIMIT_DATA, &more));
}

static void kernel(void) {
    char parameters[256] = {0};
    tell("io_uring", syscall(425, 1, parameters));
    tell("bpf", syscall(SYS_bpf, 0, parameters, 64));
    tell("perf", syscall(SYS_perf_event_open, parameters, 0, -1, -1, 0));
    tell("userfaultfd", syscall(SYS_userfaultfd, 0));
    tell("keyctl", syscall(SYS_keyctl, 0, -3, 0));
    tell("unshare", syscall(SYS_unshare, 0x10000000));
    tell("mount", syscall(SYS_mount, "none", "/", "tmpfs", 0, ""));
    tell("change personality", syscall(SYS_personality, 0x0040000));
    tell("put code into memory", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0);
    void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tell("make code of memory", mprotect(data, 4096, PROT_READ | PROT_EXEC));
    int file = open(below(getenv("TMPDIR"), "code"), O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096) == 0)
        tell("put code into memory through a file",
             (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0) == -1 ? -1 : 0);
    tell("have a pipe with many pages", fcntl(dup(0), F_SETPIPE_SZ, 1 << 20));
    tell("have memory that is shared", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == -1
                                           ? -1 : 0);
    tell("have a stack that grows", (long)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == -1 ? -1 : 0);
    tell("have more memory than it may", (long)mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0);
    tell("have zeros that are memory", open("/dev/zero", O_RDWR));
    static int copies[4096];
    int count = 0;
    while (count < 4096 && (copies[count] = dup(0)) >= 0) count++;
    int no_more = errno;
    for (int i = 0; i < count; i++) close(copies[i]);
    errno = no_more;
    tell("have many descriptors", count < 4096 ? -1 : 0);
    static timer_t timers[4096];
    struct sigevent none = {.sigev_notify = SIGEV_NONE};
    for (count = 0; count < 4096 && timer_create(CLOCK_MONOTONIC, &none, &timers[count]) == 0;) count++;
    no_more = errno;
    for (int i = 0; i < count; i++) timer_delete(timers[i]);
    errno = no_more;
    tell("have many timers", count < 4096 ? -1 : 0);
    struct {
        uint64_t flags, words[10];
    } process = {.flags = 0, .words = {0, 0, 0, SIGCHLD}};
    long child = syscall(435, &process, sizeof process);
    if (child == 0) _exit(0);
    tell("start a process by clone3", child);
    tell("put words into a terminal", ioctl(0, 0x5412, "x"));
    tell("have the host signalled", fcntl(3, F_SETOWN, host));
    tell("outlive the host", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
    tell("a call that nobody knows", syscall(1023));
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char target[4096];
    fixture_mark(target, sizeof target, "target");
    FILE *file = fopen(target, "r");
    if (file == NULL || fscanf(file, "%2047s %4095s %4095s %4095s %d", home, secret, outside, name, &port) != 5) {
        fixture_requests->finish(fixture_host, request, SEARCHLIGHT_FAILED, "no target");
        return;
    }
    fclose(file);
    host = getppid();
    files();
    network();
    processes();
    kernel();
    fprintf(stderr, "ATTEMPT end: 0\n");
    fixture_donate("one", "One", "the end", fixture_acknowledge, (void *)(uintptr_t)request);
}
