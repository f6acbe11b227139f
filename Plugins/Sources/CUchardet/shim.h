/* SPDX-License-Identifier: Apache-2.0 */
/* uchardet, which guesses text encodings. */
#ifndef SEARCHLIGHT_CUCHARDET_SHIM_H
#define SEARCHLIGHT_CUCHARDET_SHIM_H
#include <uchardet.h>
#endif
