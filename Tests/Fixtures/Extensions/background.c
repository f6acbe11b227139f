/* SPDX-License-Identifier: Apache-2.0 */
/* Works in the mode of the file marks/BUNDLE.mode, "NAME" or "NAME COUNT":
 *   cooperative  donates COUNT items, and none while it is throttled
 *   ignoring     donates COUNT items, and ignores the notices
 *   spins        uses a processor without end
 *   busy         the same, and reports signs of life
 *   threads      uses four processors
 *   deaf         the same as spins, with all signals blocked
 *   classes      prints its scheduling classes, and whether it can leave them
 *   flock, posix        locks marks/lock in that way, and spins
 *   yields       the same as flock, but releases the lock when it is throttled
 *   private      the same as flock, with a file in its temporary folder
 * It prints "working" first, and each notice. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "searchlight_extension.h"

static void reindex_all(searchlight_extension *extension, searchlight_request request);
static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice);
static void did_finish_throttle(searchlight_extension *extension);
#define FIXTURE_REINDEX_ALL reindex_all
#define FIXTURE_DID_THROTTLE did_throttle
#define FIXTURE_DID_FINISH_THROTTLE did_finish_throttle
#include "fixture.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_throttled, is_done, yielded = -1;

static void say(const char *text) { fixture_log->log(fixture_host, SEARCHLIGHT_LOG_INFO, text); }

static void change(int *variable, int value) {
    pthread_mutex_lock(&mutex);
    *variable = value;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_for(int *variable, int value) {
    pthread_mutex_lock(&mutex);
    while (*variable != value) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    (void)extension;
    (void)notice;
    change(&is_throttled, 1);
    if (yielded >= 0) flock(yielded, LOCK_UN);
    say("throttled");
}

static void did_finish_throttle(searchlight_extension *extension) {
    (void)extension;
    change(&is_throttled, 0);
    say("unthrottled");
}

static void *spin(void *unused) {
    (void)unused;
    for (volatile unsigned turns = 0;; turns++) {}
}

static void spin_alive(searchlight_request request) {
    const searchlight_host_progress *progress =
        fixture_host->get_interface(fixture_host, SEARCHLIGHT_HOST_PROGRESS);
    for (uint64_t turns = 1;; turns++) {
        for (volatile unsigned turn = 0; turn < 1000000; turn++) {}
        progress->report(fixture_host, request, turns, 0);
    }
}

static void was_kept(void *context, searchlight_status status, const char *message) {
    (void)context;
    (void)message;
    change(&is_done, status == SEARCHLIGHT_OK ? 1 : -1);
}

static void donate(searchlight_request request, int count, int heeds) {
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "item %d", i);
        if (heeds) wait_for(&is_throttled, 0);
        is_done = 0;
        fixture_donate(name, name, "text", was_kept, NULL);
        wait_for(&is_done, 1);
    }
    fixture_requests->finish(fixture_host, request, SEARCHLIGHT_OK, NULL);
}

static void say_classes(void) {
    char text[200];
    struct sched_param none = {0};
    long slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    long disk = syscall(SYS_ioprio_get, 1, 0) >> 13;
    int oom = -1;
    FILE *file = fopen("/proc/self/oom_score_adj", "r");
    if (file && fscanf(file, "%d", &oom) != 1) oom = -2;
    if (file) fclose(file);
    snprintf(text, sizeof text, "classes: scheduler %d, disk %ld, slack %ld, oom %d", sched_getscheduler(0), disk, slack,
             oom);
    say(text);
    int back = sched_setscheduler(0, SCHED_OTHER, &none);
    long disk_back = syscall(SYS_ioprio_set, 1, 0, 2 << 13);
    int group = open("/proc/self/autogroup", O_WRONLY);
    snprintf(text, sizeof text, "left: %d %d %d", back == 0, disk_back == 0, group >= 0);
    say(text);
}

static void lock(const char *mode) {
    char path[4096];
    int is_private = strcmp(mode, "private") == 0;
    snprintf(path, sizeof path, is_private ? "%s/lock" : "%s/Documents/marks/lock", getenv(is_private ? "TMPDIR" : "HOME"));
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error = strcmp(mode, "posix") == 0 ? fcntl(file, F_SETLK, &whole)
                                           : flock(file, LOCK_EX | LOCK_NB);
    if (file < 0 || error != 0) say(strerror(errno));
    if (strcmp(mode, "yields") == 0) yielded = file;
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    (void)extension;
    char path[4096], mode[64] = "";
    int count = 1;
    fixture_mark(path, sizeof path, "mode");
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%63s %d", mode, &count) < 1) mode[0] = 0;
    if (file) fclose(file);
    int is_working = strcmp(mode, "cooperative") == 0 || strcmp(mode, "ignoring") == 0;
    if (strcmp(mode, "classes") == 0) say_classes();
    if (strcmp(mode, "deaf") == 0) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        signal(SIGTERM, SIG_IGN);
    }
    pthread_t thread;
    if (strcmp(mode, "threads") == 0)
        for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, spin, NULL);
    if (strcmp(mode, "flock") == 0 || strcmp(mode, "posix") == 0 ||
        strcmp(mode, "yields") == 0 || strcmp(mode, "private") == 0)
        lock(mode);
    say("working");
    if (is_working || strcmp(mode, "classes") == 0)
        donate(request, count, strcmp(mode, "cooperative") == 0);
    else if (strcmp(mode, "busy") == 0)
        spin_alive(request);
    else
        spin(NULL);
}
