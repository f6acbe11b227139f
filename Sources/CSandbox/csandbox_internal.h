/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CSANDBOX_INTERNAL_H
#define SEARCHLIGHT_CSANDBOX_INTERNAL_H

#include "csandbox_policy.h"

/* The revision of Landlock that the kernel has; 0 for none. */
uint32_t csandbox_landlock_revision(void);

/* Confines files. is_served: the host opens files in /proc, so the rules that are for its absence do not count. */
int csandbox_apply_rules(const csandbox_parsed *parsed, int is_served, csandbox_report *report);

/* What the kernel's Landlock protects, by its revision. */
uint32_t csandbox_landlock_protections(uint32_t revision);

/*
 * A process under AddressSanitizer or ThreadSanitizer (Scripts/sanitize) reserves terabytes for what it notes about
 * its memory, so limits count from there, and opens a file when it finds something. The compiler decides, so that no
 * ordinary build has any of this.
 */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CSANDBOX_SANITIZED 1
/* The folder for reports; of Tests/Sanitizers/options.c, and NULL where only a sanitizer was asked for. */
extern const char searchlight_sanitizer_reports[] __attribute__((weak));
#endif
#endif

#endif
