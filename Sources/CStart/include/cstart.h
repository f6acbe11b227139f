/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that links this checks its resource limits (getrlimit(2)) before any other code runs,
 * including the initializers of its libraries: if limits are too small, these could hang or crash.
 * If a limit is too small, the program prints the limit's name with advice and exits with
 * CSTART_STATUS. It also opens closed standard streams.
 */
#ifndef SEARCHLIGHT_CSTART_H
#define SEARCHLIGHT_CSTART_H

/* The exit status of a program that cannot start: EX_OSERR in sysexits.h. */
#define CSTART_STATUS 71

/* The requirements of every program: sizes in bytes, and the number of descriptors. */
#define CSTART_DESCRIPTORS 64
#define CSTART_FILE_SIZE (64ul << 20)
#define CSTART_STACK (2ul << 20)
/* Memory in addition to thread stacks and to the memory in use at the start. */
#define CSTART_MEMORY (48ul << 20)
/* A thread's stack size if memory is limited. */
#define CSTART_SMALL_STACK (2ul << 20)
/* The number of threads, to which the number of processors is added, up to a maximum. */
#define CSTART_THREADS 32
#define CSTART_MAXIMUM_PROCESSORS 16

/* The number of descriptors for the service, which keeps files and connections open. */
#define CSTART_SERVICE_DESCRIPTORS 256

/* Exits with CSTART_STATUS if the descriptor limit is less than `count`. */
void cstart_require_descriptors(unsigned long count);

/* Ignores SIGXFSZ, so that a write beyond the file size limit fails with EFBIG. */
void cstart_fail_at_file_size(void);

/*
 * Makes malloc return blocks of 1 MiB and more to the kernel immediately. By default, its threshold
 * grows to the size of the largest freed block, so that it keeps blocks of up to 32 MiB. Also
 * limits the number of arenas.
 */
void cstart_keep_little_memory(void);

/*
 * Makes all threads share one malloc arena. A thread's arena grows by one or two pages at a time,
 * each with a system call (mprotect), but the main arena grows by 128 KiB. Call this before other
 * threads exist.
 */
void cstart_use_one_pool(void);

#endif
