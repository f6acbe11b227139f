/* SPDX-License-Identifier: Apache-2.0 */
#include "ctestsupport.h"

int ctestsupport_keep_standard_streams(posix_spawn_file_actions_t *actions) {
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}
