/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of the library: the one symbol that a native extension exports. */
#ifndef SEARCHLIGHT_ENTRY_H
#define SEARCHLIGHT_ENTRY_H

#include "basics.h"
#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of that symbol; see searchlight_extension_entry_function. */
#define SEARCHLIGHT_ENTRY_SYMBOL "searchlight_extension_entry_point"

/* The extension's own object. The host only passes it back. */
typedef struct searchlight_extension searchlight_extension;

/* The description of the library; static data that is valid as long as the library is loaded. */
typedef struct searchlight_extension_entry {
    uint32_t size;
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR at compile time */
    uint32_t abi_minor;
    uint32_t reserved;      /* 0 */
    const char *identifier; /* nullable; if given, it must equal the manifest's CFBundleIdentifier */

    /* Creates the one extension object of this worker. Do not wait for the network or the user, and
     * do not start indexing.
     *
     * extension: to be set to the object; it may stay NULL.
     * error: on a failure, to be filled with the reason: at most error_capacity bytes with the NUL.
     * error_capacity is at least 256.
     * Returns SEARCHLIGHT_OK, or the status of the failure. The host then reports the reason, and
     * ends the worker.
     * Time limit: 5 s with the loading of the library. [load-thread] */
    searchlight_status (*create)(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t error_capacity);
    /* Destroys the object. Called at most once, when no request is in progress. Usually it is not
     * called: an unused worker is simply killed, so store everything that must not be lost. The
     * function is nullable: the library need not have it.
     *
     * Time limit: short; the host soon kills a worker that does not exit. [load-thread] */
    void (*destroy)(searchlight_extension *extension);
    /* Returns an interface of the extension, or NULL if it has none with this identifier. The table
     * is static data. Each of its functions may be NULL: such a request is SEARCHLIGHT_UNSUPPORTED.
     *
     * identifier: SEARCHLIGHT_EXTENSION_..., such as "searchlight.reindex/1". Ignore unknown ones.
     * Time limit: 5 s with the loading of the library; called after create. [thread-safe] */
    const void *(*get_interface)(searchlight_extension *extension, const char *identifier);
} searchlight_extension_entry;

/* The type of SEARCHLIGHT_ENTRY_SYMBOL. The function must only return the entry. Time limit: 5 s
 * with the loading of the library. [load-thread] */
typedef const searchlight_extension_entry *(*searchlight_extension_entry_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_ENTRY_H */
