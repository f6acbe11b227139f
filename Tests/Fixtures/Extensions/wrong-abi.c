/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: built for a different major version of the header. */
#define FIXTURE_ABI_MAJOR 99
#include "fixture.h"
