/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCHLIGHT_CSANDBOX_INTERNAL_H
#define SEARCHLIGHT_CSANDBOX_INTERNAL_H

#include "csandbox_policy.h"

/* The revision of Landlock that the kernel has; 0 for none. */
uint32_t csandbox_landlock_revision(void);

/* What the kernel's Landlock protects, by its revision. */
uint32_t csandbox_landlock_protections(uint32_t revision);

#endif
