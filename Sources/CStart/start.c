/* SPDX-License-Identifier: Apache-2.0 */
#include "cstart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static char program[64] = "searchlight";

/* Prints the reason why the program cannot start, without allocating memory, and exits. */
__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char *format, ...) {
    /* Static, since the stack may be too small. */
    static char text[512];
    int length = snprintf(text, sizeof text, "%s: ", program);
    va_list arguments;
    va_start(arguments, format);
    int rest = vsnprintf(text + length, sizeof text - (size_t)length - 1, format, arguments);
    va_end(arguments);
    length += rest < (int)sizeof text - length - 1 ? rest : (int)sizeof text - length - 2;
    text[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
    _exit(CSTART_STATUS);
}

static rlim_t limit_of(int resource) {
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

void cstart_require_descriptors(unsigned long count) {
    rlim_t limit = limit_of(RLIMIT_NOFILE);
    if (limit < count)
        refuse("At least %lu descriptors are needed to start, but the limit is %lu (RLIMIT_NOFILE). Raise it: ulimit -n %lu",
               count, (unsigned long)limit, count);
}

void cstart_fail_at_file_size(void) { signal(SIGXFSZ, SIG_IGN); }

void cstart_keep_little_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    /* If address space is limited, try_memory has set a maximum of one arena. */
    if (limit_of(RLIMIT_AS) == RLIM_INFINITY) mallopt(M_ARENA_MAX, 4);
}

void cstart_use_one_pool(void) { mallopt(M_ARENA_MAX, 1); }

/* Reduces the default stack size of threads, for limited memory. */
static void shrink_stacks(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) != 0) return;
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size > CSTART_SMALL_STACK &&
        pthread_attr_setstacksize(&attributes, CSTART_SMALL_STACK) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/* The default stack size of a thread in bytes. */
static size_t stack_size(void) {
    pthread_attr_t attributes;
    size_t size = 8ul << 20;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return size;
}

static unsigned thread_count(void) {
    cpu_set_t processors;
    int count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    return CSTART_THREADS + (unsigned)(count < CSTART_MAXIMUM_PROCESSORS ? count : CSTART_MAXIMUM_PROCESSORS);
}

/* Checks the memory limits by mapping the required size, including all stacks, as one untouched
 * block. */
static void try_memory(unsigned threads) {
    rlim_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
    if (space == RLIM_INFINITY && data == RLIM_INFINITY) return;
    shrink_stacks();
    size_t size = CSTART_MEMORY + threads * (stack_size() + (64u << 10));
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) {
        munmap(room, size);
        /* malloc reserves many times more address space for each arena than it uses, so threads
         * could not start. */
        if (space != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
        return;
    }
    unsigned long wanted = (unsigned long)(size >> 20);
    /* A mapping without write access counts only towards RLIMIT_AS, so it shows which limit is too
     * small. */
    room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int is_data = room != MAP_FAILED && data != RLIM_INFINITY;
    if (room != MAP_FAILED) munmap(room, size);
    const char *name = is_data || space == RLIM_INFINITY ? "RLIMIT_DATA" : "RLIMIT_AS";
    unsigned long limit = (unsigned long)((is_data || space == RLIM_INFINITY ? data : space) >> 10);
    refuse("%lu MiB of memory are needed to start, besides the program's own; the limit of %lu KiB leaves less (%s). Raise "
           "it (ulimit %s unlimited), or lower the size of stacks (ulimit -s), since each thread needs a stack.",
           wanted, limit, name, is_data || space == RLIM_INFINITY ? "-d" : "-v");
}

/* Held while the test threads are created, so that all of them exist at the same time. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *pass(void *argument) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return argument;
}

/* Reads the beginning of a file as zero-terminated text; returns 0 on failure. */
static int read_text(const char *path, char *text, size_t capacity) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, capacity - 1);
    close(file);
    if (count <= 0) return 0;
    text[count] = 0;
    return 1;
}

/* Returns 1 if pids.max in one of this process's control groups may not permit `count` more
 * threads. */
static int group_is_short(unsigned count) {
    static char groups[4096], path[4200], text[32];
    if (!read_text("/proc/self/cgroup", groups, sizeof groups)) return 0;
    char *group = strstr(groups, "0::/");
    if (group == NULL) return 0;
    group += strlen("0::");
    group[strcspn(group, "\n")] = 0;
    for (;;) {
        unsigned long most = 0, now = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/pids.max", group);
        if (read_text(path, text, sizeof text) && sscanf(text, "%lu", &most) == 1) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/pids.current", group);
            if (!read_text(path, text, sizeof text) || sscanf(text, "%lu", &now) != 1 || now + count > most) return 1;
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL) return 0;
        *slash = 0;
    }
}

/*
 * Returns 1 if `count` more threads are certainly permitted, because the threads of all users
 * together stay within this user's limit. This avoids creating test threads, which takes
 * milliseconds.
 */
static int threads_are_certain(unsigned count) {
    static char text[128];
    rlim_t limit = limit_of(RLIMIT_NPROC);
    if (limit != RLIM_INFINITY) {
        unsigned long all = 0;
        /* For example: 0.20 0.18 0.12 1/80 11206 */
        if (!read_text("/proc/loadavg", text, sizeof text) || sscanf(text, "%*s %*s %*s %*u/%lu", &all) != 1 ||
            all + count > limit)
            return 0;
    }
    return !group_is_short(count);
}

static void try_threads(unsigned count) {
    if (threads_are_certain(count)) return;
    pthread_t threads[CSTART_THREADS + CSTART_MAXIMUM_PROCESSORS];
    pthread_attr_t attributes;
    unsigned started = 0;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return;
    /* Small stacks, because try_memory has already checked the memory. */
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN < (64 << 10) ? 64 << 10 : PTHREAD_STACK_MIN);
    pthread_mutex_lock(&gate);
    while (started < count && (error = pthread_create(&threads[started], &attributes, pass, NULL)) == 0) started++;
    pthread_mutex_unlock(&gate);
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    if (started == count) return;
    rlim_t limit = limit_of(RLIMIT_NPROC);
    if (limit == RLIM_INFINITY)
        refuse("%u threads are needed to start, but only %u are possible: %s. End other programs, or raise the limit of the cgroup "
               "(pids.max, TasksMax=)",
               count, started, error == EAGAIN ? "no more are allowed" : "there is too little memory");
    refuse("%u threads are needed to start, but only %u are possible: this user may have %lu processes and threads in all "
           "(RLIMIT_NPROC). End other programs, or raise it: ulimit -u %lu",
           count, started, (unsigned long)limit, (unsigned long)limit + count);
}

/*
 * Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise a file or socket
 * could get that number, and printed lines would be written to it. The access mode is deliberately
 * the opposite one, so that reading and writing fail with EBADF, as with a closed descriptor. Call
 * this before other threads exist, because they may open files.
 */
static void hold_streams(void) {
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) >= 0) continue;
        /* open returns the lowest free number, which is this one. */
        if (open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number)
            refuse("Descriptor %d is closed, and opening /dev/null in its place failed: %s. Check that /dev/null exists",
                   number, strerror(errno));
    }
}

static void check(int argc, char **argv, char **environment) {
    (void)environment;
    if (argc > 0 && argv[0] != NULL) {
        const char *slash = strrchr(argv[0], '/');
        const char *name = slash ? slash + 1 : argv[0];
        if (*name != 0 && strlen(name) < sizeof program) strcpy(program, name);
    }
    hold_streams();
    rlim_t limit = limit_of(RLIMIT_STACK);
    if (limit < CSTART_STACK)
        refuse("Stacks of at least %lu KiB are needed to start, but the limit is %lu KiB (RLIMIT_STACK). Raise it: ulimit -s "
               "%lu",
               CSTART_STACK >> 10, (unsigned long)(limit >> 10), CSTART_STACK >> 10);
    cstart_require_descriptors(CSTART_DESCRIPTORS);
    limit = limit_of(RLIMIT_FSIZE);
    if (limit < CSTART_FILE_SIZE)
        refuse("Files of at least %lu MiB must be writable, but the limit is %lu KiB (RLIMIT_FSIZE). Raise it: ulimit -f "
               "unlimited",
               CSTART_FILE_SIZE >> 20, (unsigned long)(limit >> 10));
    unsigned threads = thread_count();
    try_memory(threads);
    try_threads(threads);
}

/* Sanitizers initialize later and reserve much address space, so the checks are skipped. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CSTART_IS_SANITIZED 1
#endif
#endif

#ifdef CSTART_IS_SANITIZED
void (*const cstart_unused)(int, char **, char **) = check;
__attribute__((constructor)) static void begin(void) { hold_streams(); }
#else
/* Called by the dynamic loader before the libraries' initializers (DT_PREINIT_ARRAY), with the
 * arguments of main. */
__attribute__((section(".preinit_array"), used, retain)) static void (*const begin)(int, char **, char **) = check;
#endif
