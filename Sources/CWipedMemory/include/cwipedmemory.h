/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CWIPEDMEMORY_H
#define CWIPEDMEMORY_H

/*
 * A program that links this target overwrites each block of memory when it is freed, in all of its
 * libraries, starting with the first call to cwipedmemory_begin(). Before that call, free() costs
 * one additional load.
 *
 * The call also excludes the process's memory from core files (/proc/self/coredump_filter).
 *
 * May be called on any thread. Returns 0, or an errno value if core files still contain memory.
 */
int cwipedmemory_begin(void);

#endif
