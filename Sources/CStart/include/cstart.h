/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that links this looks at its resource limits (getrlimit(2)) before anything else of it begins, its libraries
 * among that: with too little, they would wait for threads without end or crash. It then says which limit is too small
 * and what to do, and ends with CSTART_STATUS. It also opens the standard streams that are closed.
 */
#ifndef SEARCHLIGHT_CSTART_H
#define SEARCHLIGHT_CSTART_H

/* The exit status of a program that cannot start: EX_OSERR of sysexits.h. */
#define CSTART_STATUS 71

/* What every program needs. In bytes; descriptors and threads by number. */
#define CSTART_DESCRIPTORS 64
#define CSTART_FILE_SIZE (64ul << 20)
#define CSTART_STACK (2ul << 20)
/* Memory besides the stacks of its threads, and besides what its libraries have when it begins. */
#define CSTART_MEMORY (48ul << 20)
/* The stack of a thread where memory is limited. */
#define CSTART_SMALL_STACK (2ul << 20)
/* Threads; as many more as there are processors, up to a number. */
#define CSTART_THREADS 32
#define CSTART_MAXIMUM_PROCESSORS 16

/* What the service needs, which keeps files and connections open. */
#define CSTART_SERVICE_DESCRIPTORS 256

/* Ends this process, as above, where it may not have so many descriptors. */
void cstart_require_descriptors(unsigned long count);

/* Has writing beyond the limit of file sizes fail with EFBIG, rather than end the process (SIGXFSZ). */
void cstart_fail_at_file_size(void);

/*
 * Has the C library give blocks of a MiB and more back to the system at once. Otherwise it takes the size of the largest
 * block that was freed for its threshold, and keeps blocks of up to 32 MiB. And has all threads share a few pools.
 */
void cstart_keep_little_memory(void);

/*
 * Has all threads share one pool of the C library's. It makes the pool of a thread larger by one or two pages at a time, each
 * by a call of the kernel (mprotect), and the first pool by 128 KiB. To be called before there are threads.
 */
void cstart_use_one_pool(void);

#endif
