/* SPDX-License-Identifier: Apache-2.0 */
/* The version of all programs that are built together, and what is known of this build when it is compiled. */
#ifndef SEARCHLIGHT_CBUILDFACTS_H
#define SEARCHLIGHT_CBUILDFACTS_H

/* The one place where it stands. */
#define SEARCHLIGHT_VERSION "0.1.0"

/*
 * The commit that was built, by SEARCHLIGHT_COMMIT in the environment of the build, as Scripts/release sets it; empty if
 * nothing was set, or no commit.
 */
const char *searchlight_commit(void);

#endif
