/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that can occur anywhere, one function each. Some never return. The others leave the
 * process in a bad state and return, so that the following code is the test. A fault that consumes
 * resources stops at a bound, so that without limits in the host the test fails, but the machine is
 * not affected.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A function that a fixture may leave unused. */
#define FAULT_FUNCTION static __attribute__((unused)) void

static volatile int *volatile fault_nowhere = NULL;
static volatile int fault_zero = 0;

/* ---- Ends the process ------------------------------------------------------------------------------------------ */

FAULT_FUNCTION fault_crash(void) { *fault_nowhere = 1; }

FAULT_FUNCTION fault_abort(void) { abort(); }

FAULT_FUNCTION fault_trap(void) { __builtin_trap(); }

FAULT_FUNCTION fault_divide(void) { fault_zero = 1 / fault_zero; }

static int fault_recurse(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    if (depth < 0) return 0;
    return fault_recurse(depth + 1) + frame[0];
}
FAULT_FUNCTION fault_overflow(void) { fault_zero = fault_recurse(0); }

/* Frees a block twice, which the C library detects. */
FAULT_FUNCTION fault_free(void) {
    char *volatile memory = malloc(64);
    free(memory);
    free(memory);
}

FAULT_FUNCTION fault_exit(void) { exit(0); }

FAULT_FUNCTION fault_exit_3(void) { exit(3); }

FAULT_FUNCTION fault_exit_at_once(void) { _exit(0); }

static void *fault_exit_thread(void *unused) {
    (void)unused;
    exit(4);
}
FAULT_FUNCTION fault_exit_elsewhere(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fault_exit_thread, NULL);
    for (;;) pause();
}

FAULT_FUNCTION fault_exit_and_crash(void) {
    atexit(fault_crash);
    exit(0);
}

FAULT_FUNCTION fault_terminate(void) {
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
    for (;;) pause();
}

FAULT_FUNCTION fault_kill(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static pthread_key_t fault_key;
static void fault_destructor(void *unused) {
    (void)unused;
    fault_crash();
}
static void *fault_key_thread(void *value) {
    pthread_setspecific(fault_key, value);
    return NULL;
}
/* Crashes in the destructor of thread-specific data. */
FAULT_FUNCTION fault_thread_destructor(void) {
    pthread_t thread;
    pthread_key_create(&fault_key, fault_destructor);
    pthread_create(&thread, NULL, fault_key_thread, &fault_key);
    pthread_join(thread, NULL);
    for (;;) pause();
}

/* ---- Never returns ---------------------------------------------------------------------------------------------- */

FAULT_FUNCTION fault_hang(void) {
    for (;;) pause();
}

FAULT_FUNCTION fault_spin(void) {
    while (fault_zero == 0) {
    }
}

static pthread_mutex_t fault_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Waits indefinitely for a lock that it holds itself, as does each later caller. */
FAULT_FUNCTION fault_deadlock(void) {
    pthread_mutex_lock(&fault_mutex);
    pthread_mutex_lock(&fault_mutex);
    for (;;) pause();
}

FAULT_FUNCTION fault_stop(void) {
    kill(getpid(), SIGSTOP);
    for (;;) pause();
}

/* Ignores all signals, and hangs. */
FAULT_FUNCTION fault_deaf(void) {
    sigset_t all;
    sigfillset(&all);
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) pause();
}

static void fault_swallow_signal(int number) { (void)number; }
/* Crashes repeatedly, and each time continues as if nothing had happened. */
FAULT_FUNCTION fault_swallow(void) {
    signal(SIGSEGV, fault_swallow_signal);
    fault_crash();
    for (;;) pause();
}

/* ---- Takes without end ------------------------------------------------------------------------------------------ */

/* Allocates and touches up to 6 GiB of memory. */
FAULT_FUNCTION fault_memory(void) {
    enum { PIECE = 16 << 20, PIECES = 384 };
    for (int piece = 0; piece < PIECES; piece++) {
        char *memory = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) abort();
        memset(memory, piece + 1, PIECE);
    }
    fputs("nobody minds 6 GiB\n", stderr);
    _exit(99);
}

/* Reserves all available address space without using it. */
FAULT_FUNCTION fault_addresses(void) {
    size_t length = (size_t)1 << 46;
    while (length >= (size_t)1 << 30) {
        void *taken = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (taken == MAP_FAILED) length /= 2;
    }
}

FAULT_FUNCTION fault_descriptors(void) {
    for (int count = 0; count < 1 << 20; count++) {
        if (dup(2) < 0) return;
    }
}

static void *fault_thread(void *unused) {
    (void)unused;
    for (;;) pause();
}
FAULT_FUNCTION fault_threads(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int count = 0; count < 2000; count++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, fault_thread, NULL) != 0) return;
    }
}

/* A sparse file of 1 TiB in each folder that is writable. */
FAULT_FUNCTION fault_file_size(void) {
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/searchlight-bomb-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) return;
    unlink(path);
    if (ftruncate(file, (off_t)1 << 40) != 0) fprintf(stderr, "1 TiB: %s\n", strerror(errno));
    close(file);
}

/* ---- Starts others ---------------------------------------------------------------------------------------------- */

/* Both processes exit by themselves, in case the host leaves them behind. */
static void fault_linger(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* threads of Dispatch, of which this is a copy, block the alarm */
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    for (;;) pause();
}

FAULT_FUNCTION fault_fork(void) {
    pid_t child = fork();
    if (child == 0) fault_linger();
    fprintf(stderr, child < 0 ? "no child\n" : "child %d\n", (int)child);
}

/* An orphaned process: in its own session, without its parent. */
FAULT_FUNCTION fault_daemon(void) {
    pid_t child = fork();
    if (child < 0) {
        fputs("no child\n", stderr);
        return;
    }
    if (child > 0) return;
    setsid();
    pid_t grandchild = fork();
    if (grandchild == 0) fault_linger();
    fprintf(stderr, "child %d\n", (int)grandchild);
    _exit(0);
}

FAULT_FUNCTION fault_exec(void) {
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    fprintf(stderr, "no exec: %s\n", strerror(errno));
}

/* ---- Takes the ground away from under itself -------------------------------------------------------------------- */

FAULT_FUNCTION fault_close_connection(void) { close(3); }

FAULT_FUNCTION fault_close_all(void) { close_range(0, ~0u, 0); }

/* Uses a descriptor after it was closed, as happens when two threads both believe that they own
 * it. */
FAULT_FUNCTION fault_close_twice(void) {
    int file = dup(2);
    close(file);
    if (write(file, "x\n", 2) >= 0) fputs("it was open\n", stderr);
    close(file);
}

FAULT_FUNCTION fault_close_output(void) {
    close(1);
    close(2);
}

FAULT_FUNCTION fault_environment(void) {
    struct rlimit files = {8, 8};
    setenv("LD_PRELOAD", "/nowhere.so", 1);
    setenv("HOME", "/", 1);
    if (chdir("/") != 0) fputs("no folder\n", stderr);
    umask(0777);
    setrlimit(RLIMIT_NOFILE, &files);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_NAME, "searchlightd");
}

static void fault_ignore_signal(int number) { (void)number; }
FAULT_FUNCTION fault_handlers(void) {
    for (int number = 1; number < 32; number++) signal(number, fault_ignore_signal);
}
#endif
