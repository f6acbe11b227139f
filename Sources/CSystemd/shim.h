/* SPDX-License-Identifier: Apache-2.0 */
/* sd-bus as Swift can see it: variadic functions are not importable, so the two that are needed stand here. */
#ifndef SEARCHLIGHT_CSYSTEMD_SHIM_H
#define SEARCHLIGHT_CSYSTEMD_SHIM_H
#include <systemd/sd-bus.h>
#endif
