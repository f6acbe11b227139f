/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before a program's other libraries (LD_PRELOAD). Shifts the program's wall clock by the
 * number of nanoseconds in the file SHIFTED_CLOCK, which may change at any time, as when a user
 * sets the machine's clock. Other clocks are not changed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SHIFTED_CLOCK");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) shift = page;
    close(file);
}

static int64_t now(void) {
    struct timespec real;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
    return (int64_t)real.tv_sec * 1000000000 + real.tv_nsec + (shift == NULL ? 0 : *shift);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, time);
    int64_t moment = now();
    time->tv_sec = moment / 1000000000;
    time->tv_nsec = moment % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    int64_t moment = now();
    time->tv_sec = moment / 1000000000;
    time->tv_usec = moment % 1000000000 / 1000;
    return 0;
}

time_t time(time_t *result) {
    time_t seconds = now() / 1000000000;
    if (result != NULL) *result = seconds;
    return seconds;
}
