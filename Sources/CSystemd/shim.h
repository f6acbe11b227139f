/* SPDX-License-Identifier: Apache-2.0 */
/* libsystemd: sd-bus and sd-daemon. */
#ifndef SEARCHLIGHT_CSYSTEMD_SHIM_H
#define SEARCHLIGHT_CSYSTEMD_SHIM_H

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#endif
