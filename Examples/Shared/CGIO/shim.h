// SPDX-License-Identifier: Apache-2.0
#include <gio/gio.h>
