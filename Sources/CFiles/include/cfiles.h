/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File system calls that Swift cannot import.
 *
 * Functions return 0 or a count, or the negative errno of a failure. They retry system calls that a
 * signal interrupts.
 */
#ifndef SEARCHLIGHT_CFILES_H
#define SEARCHLIGHT_CFILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Makes a file share all blocks of another file on the same device (FICLONE), if the file system
 * supports that (Btrfs, XFS).
 */
int cfiles_clone(int to, int from);

/*
 * Copies at most count bytes between two files at these offsets, inside the kernel
 * (copy_file_range). Returns the number of bytes; 0 at the end of the file.
 */
int64_t cfiles_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, uint64_t count);

/* Return the offset of the next data or the next hole. They move the descriptor's position. */
int64_t cfiles_next_data(int descriptor, int64_t offset);
int64_t cfiles_next_hole(int descriptor, int64_t offset);

/*
 * Opens a path below a folder (openat2). Never follows a symbolic link, crosses to another device
 * or leaves the folder. Adds O_CLOEXEC, O_NOCTTY and O_NONBLOCK, so that the call cannot hang.
 * Returns the descriptor.
 */
int cfiles_open_beneath(int folder, const char *name, int flags);

/* Renames a file. Fails with EEXIST if the new name exists. */
int cfiles_rename_exclusively(const char *from, const char *to);

/* Returns 1 if the descriptor can be read, 0 if not (O_PATH or write-only), or a negative errno. */
int cfiles_is_readable(int descriptor);

/*
 * Returns 1 if the descriptor belongs to a virtual kernel file system (/proc, /sys, ...), 0 if not,
 * or a negative errno.
 */
int cfiles_is_made_up(int descriptor);

/*
 * Returns an eventfd (close-on-exec) that becomes and stays readable for all its readers once
 * cfiles_raise is called.
 */
int cfiles_flag(void);
void cfiles_raise(int flag);

/* The addresses from start up to but not including end. */
struct cfiles_range {
    uintptr_t start, end;
};

/*
 * Drops the resident pages (MADV_DONTNEED) of read-only program and library segments that lie
 * completely inside one of the ranges.
 */
void cfiles_forget_segments(const struct cfiles_range *ranges, size_t count);

#endif
