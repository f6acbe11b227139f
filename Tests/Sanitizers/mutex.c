/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the operations of Swift's Mutex to ThreadSanitizer. On Linux, the fast path of a Mutex is
 * compiled into its user and is therefore instrumented. When threads wait for each other,
 * libswiftSynchronization lets the kernel hand over the lock (FUTEX_LOCK_PI, FUTEX_UNLOCK_PI). That
 * library is not instrumented, so ThreadSanitizer would report all data that a Mutex protects as a
 * race.
 *
 * Linked into every program that Scripts/sanitize builds for thread. The three functions replace
 * the library's, call them, and report the result: a thread that has acquired the lock sees
 * everything from before the unlock. They hide no races.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

/* Synchronization._MutexHandle._lockSlow(UInt32), ._unlockSlow() and ._tryLockSlow() -> Bool */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

SWIFT void searchlight_lock_slow(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void searchlight_unlock_slow(SELF mutex) __asm__(UNLOCK);
SWIFT bool searchlight_try_lock_slow(SELF mutex) __asm__(TRY);

/* Returns the library's function, even if several images in a process contain this file. */
static void *find(const char *name, void **known) {
    void *function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (function != NULL) return function;
    void *library = dlopen("libswiftSynchronization.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) function = dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr,
                "Tests/Sanitizers/mutex.c: libswiftSynchronization of this toolchain has no %s. Look up in its "
                "Mutex what waits now, and wrap that.\n",
                name);
        abort();
    }
    __atomic_store_n(known, function, __ATOMIC_RELAXED);
    return function;
}

SWIFT void searchlight_lock_slow(uint32_t thread, SELF mutex) {
    static void *real;
    ((SWIFT void (*)(uint32_t, SELF))find(LOCK, &real))(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void searchlight_unlock_slow(SELF mutex) {
    static void *real;
    __tsan_release(mutex);
    ((SWIFT void (*)(SELF))find(UNLOCK, &real))(mutex);
}

SWIFT bool searchlight_try_lock_slow(SELF mutex) {
    static void *real;
    bool has_locked = ((SWIFT bool (*)(SELF))find(TRY, &real))(mutex);
    if (has_locked) __tsan_acquire(mutex);
    return has_locked;
}
