/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive, which reads the packages of office documents and books. */
#ifndef SEARCHLIGHT_CLIBARCHIVE_SHIM_H
#define SEARCHLIGHT_CLIBARCHIVE_SHIM_H
#include <archive.h>
#include <archive_entry.h>
#endif
