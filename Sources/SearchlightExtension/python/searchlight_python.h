/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_python.h: the declarations shared by the parts of the loader, through which an
 * extension can be a Python module.
 *
 * loader.c starts an interpreter in the worker and passes requests to searchlight.py. host.c is the
 * module _searchlight, through which searchlight.py calls the host.
 *
 * Threads: each request arrives on a host thread. It acquires the interpreter lock, and releases it
 * while it waits for the host.
 */
#ifndef SEARCHLIGHT_PYTHON_H
#define SEARCHLIGHT_PYTHON_H

/* Included before all other headers, because Python.h determines what they declare. Argument
 * lengths are Py_ssize_t. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "searchlight_extension.h"
#include "searchlight/draft/content.h"

/* The host of the extension object, and the host's interfaces. Set by create, before any
 * request. */
struct connection {
    const searchlight_host *host;
    const searchlight_host_request *request;
    const searchlight_host_items *items;
    const searchlight_host_batch *batch;
    const searchlight_host_custom_keys *keys; /* nullable, like all members below */
    const searchlight_host_rename *rename;
    const searchlight_host_listing *listing;
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
    const searchlight_host_log *log;
    const searchlight_host_left_out *left_out;
    const searchlight_host_content *content;
    const searchlight_host_protection *protection;
};
extern struct connection connection;

/* Creates the module _searchlight. */
PyMODINIT_FUNC create_host_module(void);

/* Returns a list of texts, or NULL with an exception set. */
PyObject *list_of_texts(const char *const *texts, size_t count);

#endif /* SEARCHLIGHT_PYTHON_H */
