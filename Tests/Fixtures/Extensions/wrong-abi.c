/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: built for another major version of the header. */
#define FIXTURE_ABI_MAJOR 99
#include "fixture.h"
