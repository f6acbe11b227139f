/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSECCOMP_SHIM_H
#define CSECCOMP_SHIM_H
#include <seccomp.h>
#endif
