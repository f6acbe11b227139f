/* SPDX-License-Identifier: Apache-2.0 */
/* The common version of all programs, and facts about the build that the compiler receives. */
#ifndef SEARCHLIGHT_CBUILDFACTS_H
#define SEARCHLIGHT_CBUILDFACTS_H

/* The only definition of the version. */
#define SEARCHLIGHT_VERSION "0.1.0"

/*
 * The commit of the build, from SEARCHLIGHT_COMMIT in the environment of the build, which
 * Scripts/release sets. Empty if the variable is not set or is not a commit.
 */
const char *searchlight_commit(void);

#endif
