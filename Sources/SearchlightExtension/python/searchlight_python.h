/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_python.h: the parts of the loader, by which an extension is a Python module.
 *
 * loader.c starts an interpreter in the worker and passes requests to searchlight.py. host.c is the
 * module _searchlight, by which searchlight.py calls the host.
 *
 * Threads: each request comes on a thread of the host. It takes the lock of the interpreter, and
 * gives it back while it waits for the host.
 */
#ifndef SEARCHLIGHT_PYTHON_H
#define SEARCHLIGHT_PYTHON_H

/* Before all other headers, since Python.h chooses what these declare. Lengths of arguments are
 * Py_ssize_t. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "searchlight_extension.h"

/* The host of the extension object, and its interfaces. Written by create, before any request. */
struct connection {
    const searchlight_host *host;
    const searchlight_host_request *request;
    const searchlight_host_items *items;
    const searchlight_host_batch *batch;
    const searchlight_host_custom_keys *keys; /* nullable, as all that follow */
    const searchlight_host_rename *rename;
    const searchlight_host_listing *listing;
    const searchlight_host_cancel *cancel;
    const searchlight_host_progress *progress;
    const searchlight_host_log *log;
    const searchlight_host_left_out *left_out;
};
extern struct connection connection;

/* Creates the module _searchlight. */
PyMODINIT_FUNC create_host_module(void);

/* Returns a list of texts, or NULL with an exception. */
PyObject *list_of_texts(const char *const *texts, size_t count);

#endif /* SEARCHLIGHT_PYTHON_H */
