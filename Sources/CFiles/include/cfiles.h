/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Swift cannot say to the kernel about files by itself.
 *
 * Functions return 0 or a count, or the negative errno of what failed. They are tried again when a signal interrupts them.
 */
#ifndef SEARCHLIGHT_CFILES_H
#define SEARCHLIGHT_CFILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Has a file share all blocks of another one on the same device, where its file system can (Btrfs, XFS). */
int cfiles_clone(int to, int from);

/* Copies at most count bytes from one file to another at these offsets inside the kernel; the count, 0 at the end. */
int64_t cfiles_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, uint64_t count);

/* Where the next bytes that are no hole begin, or the next hole; moves the descriptor's position. */
int64_t cfiles_next_data(int descriptor, int64_t offset);
int64_t cfiles_next_hole(int descriptor, int64_t offset);

/*
 * Opens a name in a folder: never through a symbolic link, never on another device, never outside the folder. With
 * O_CLOEXEC, O_NOCTTY and O_NONBLOCK, so that nothing hangs. The descriptor.
 */
int cfiles_open_beneath(int folder, const char *name, int flags);

/* Renames, and fails with EEXIST if something has the new name. */
int cfiles_rename_exclusively(const char *from, const char *to);

/* What a descriptor may be used for: 0 if for no contents at all (O_PATH), 1 if it can be read from, or an errno. */
int cfiles_is_readable(int descriptor);

/* Whether a descriptor leads into a file system that the kernel makes up (/proc, /sys, ...), or an errno. */
int cfiles_is_made_up(int descriptor);

/* A descriptor that becomes readable, for everybody and for good, once cfiles_raise was called; close-on-exec. */
int cfiles_flag(void);
void cfiles_raise(int flag);

/* Addresses from one up to another. */
struct cfiles_range {
    uintptr_t start, end;
};

/*
 * Has the kernel forget which pages were used of the segments of programs and libraries that cannot be written and lie in one
 * of the ranges.
 */
void cfiles_forget_segments(const struct cfiles_range *ranges, size_t count);

#endif
