/* SPDX-License-Identifier: Apache-2.0 */
/* The host, which the extension gets at its creation. */
#ifndef SEARCHLIGHT_HOST_H
#define SEARCHLIGHT_HOST_H

#include "basics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passed to the extension at its creation; valid until its destroy function returns. */
typedef struct searchlight_host {
    uint32_t size;      /* sizeof(searchlight_host) of the host */
    uint32_t abi_major; /* SEARCHLIGHT_ABI_MAJOR of the host */
    uint32_t abi_minor;
    uint32_t reserved;             /* 0 */
    void *context;                 /* belongs to the host; do not use */
    const char *bundle_identifier; /* e.g. "com.example.journal", from the manifest */
    const char *bundle_path;       /* absolute path of the .searchext directory */
    const char *principal_class;   /* nullable; NSExtensionPrincipalClass of the manifest, e.g. "Journal.Handler" */

    /* Returns an interface of the host, valid as long as the host struct; NULL if the host has
     * none with this identifier, or if it is NULL. Fetch each interface once, and work without it
     * if it is NULL.
     *
     * identifier: SEARCHLIGHT_HOST_..., such as "searchlight.items/1".
     * Time: at once. [thread-safe] */
    const void *(*get_interface)(const struct searchlight_host *host, const char *identifier);
} searchlight_host;

#ifdef __cplusplus
}
#endif

#endif /* SEARCHLIGHT_HOST_H */
