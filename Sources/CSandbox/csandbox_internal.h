/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CSANDBOX_INTERNAL_H
#define SEARCHLIGHT_CSANDBOX_INTERNAL_H

#include "csandbox_policy.h"

/* Returns the revision of the kernel's Landlock ABI; 0 without Landlock. */
uint32_t csandbox_landlock_revision(void);

/* Confines file access. With is_served, the host opens files in /proc, so the rules with
 * CSANDBOX_UNLESS_SERVED are skipped. */
int csandbox_apply_rules(const csandbox_parsed *parsed, int is_served, csandbox_report *report);

/* Returns the protections that a Landlock revision provides. */
uint32_t csandbox_landlock_protections(uint32_t revision);

/*
 * A process with AddressSanitizer or ThreadSanitizer (Scripts/sanitize) reserves terabytes for its
 * shadow memory, so memory limits are added to this reservation. The process opens a file when it
 * finds an error. Builds without a sanitizer contain none of this code.
 */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CSANDBOX_SANITIZED 1
/* The folder for reports, from Tests/Sanitizers/options.c; NULL if only a sanitizer was requested.
 */
extern const char searchlight_sanitizer_reports[] __attribute__((weak));
#endif
#endif

#endif
