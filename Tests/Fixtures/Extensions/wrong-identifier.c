/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: claims a different identifier than its manifest. */
#define FIXTURE_IDENTIFIER "com.example.somebody-else"
#include "fixture.h"
