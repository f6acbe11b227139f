/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGCRYPT_SHIM_H
#define CGCRYPT_SHIM_H
#include <gcrypt.h>
#endif
