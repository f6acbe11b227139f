/* SPDX-License-Identifier: Apache-2.0 */
/* The version of all programs, and facts about the build that are passed to the compiler. */
#ifndef SEARCHLIGHT_CBUILDFACTS_H
#define SEARCHLIGHT_CBUILDFACTS_H

/* The only definition of the version. */
#define SEARCHLIGHT_VERSION "0.1.0"

/*
 * Returns the commit of the build, from the build environment's SEARCHLIGHT_COMMIT, which
 * Scripts/release sets. Empty if the variable is unset or not a commit.
 */
const char *searchlight_commit(void);

#endif
