// SPDX-License-Identifier: Apache-2.0
#include "cwipedmemory.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sanitizers have their own allocator, which keeps freed memory for its reports.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_FREED_MEMORY
#endif
#endif

static _Atomic int wipes;

int cwipedmemory_begin(void) {
    atomic_store(&wipes, 1);
    int file = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int code = write(file, "0", 1) == 1 ? 0 : errno;
    close(file);
    return code;
}

#ifndef KEEPS_FREED_MEMORY
// The glibc functions behind the names that the linker resolves to the functions below.
void __libc_free(void *block);
void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

void free(void *block) {
    if (block != NULL && atomic_load_explicit(&wipes, memory_order_relaxed)) {
        int code = errno;
        explicit_bzero(block, malloc_usable_size(block));
        errno = code;
    }
    __libc_free(block);
}

void *realloc(void *block, size_t bytes) {
    if (block == NULL || bytes == 0 || !atomic_load_explicit(&wipes, memory_order_relaxed)) {
        if (block != NULL && bytes == 0) {
            free(block);
            return NULL;
        }
        return __libc_realloc(block, bytes);
    }
    size_t old = malloc_usable_size(block);
    // glibc would copy the block and leave the old contents in memory.
    if (bytes <= old && bytes >= old / 2) return block;
    void *copy = __libc_malloc(bytes);
    if (copy == NULL) return NULL;
    memcpy(copy, block, old < bytes ? old : bytes);
    free(block);
    return copy;
}
#endif
