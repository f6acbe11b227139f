/* SPDX-License-Identifier: Apache-2.0 */
/* For the flags of pkg-config alone: only C includes GMime. */
#ifndef SEARCHLIGHT_CGMIME_SHIM_H
#define SEARCHLIGHT_CGMIME_SHIM_H
#endif
