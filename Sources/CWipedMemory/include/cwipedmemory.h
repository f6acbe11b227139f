/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CWIPEDMEMORY_H
#define CWIPEDMEMORY_H

/*
 * The program that links this target overwrites each block of memory when it is freed, from the
 * first call of cwipedmemory_begin() on, in all of its libraries. Before that, free() costs one
 * more load.
 *
 * It also leaves the memory of the process out of core files (/proc/self/coredump_filter).
 *
 * Any thread may call it. Returns 0, or an errno value if core files still contain memory.
 */
int cwipedmemory_begin(void);

#endif
