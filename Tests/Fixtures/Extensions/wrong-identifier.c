/* SPDX-License-Identifier: Apache-2.0 */
/* Broken: says it is another extension than its manifest. */
#define FIXTURE_IDENTIFIER "com.example.somebody-else"
#include "fixture.h"
