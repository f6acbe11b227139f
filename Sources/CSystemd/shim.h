/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection needs of the system and Swift's own view of it leaves out: sd-bus, event descriptors, and naming a
 * thread (prctl is variadic, which Swift cannot import). */
#ifndef SEARCHLIGHT_CSYSTEMD_SHIM_H
#define SEARCHLIGHT_CSYSTEMD_SHIM_H

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>

/* Names the calling thread for debuggers; at most 15 bytes are kept. */
static inline void csystemd_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* An event descriptor that starts at 0, close-on-exec and non-blocking; negative on failure. */
static inline int csystemd_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

#endif
