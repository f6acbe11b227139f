/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSTEMMER_SHIM_H
#define CSTEMMER_SHIM_H
#include <libstemmer.h>
#endif
