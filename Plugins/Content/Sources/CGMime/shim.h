/* SPDX-License-Identifier: Apache-2.0 */
/* This module only supplies pkg-config's flags. Only C code includes GMime. */
#ifndef SEARCHLIGHT_CGMIME_SHIM_H
#define SEARCHLIGHT_CGMIME_SHIM_H
#endif
