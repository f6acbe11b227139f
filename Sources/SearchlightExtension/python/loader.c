/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library of an extension written in Python: it starts an interpreter, imports the bundle's
 * extension.py, and passes the host's requests to it.
 *
 * The interpreter is isolated: it uses no environment variables and no modules installed by the
 * user, and writes no files. It imports from the bundle and from the standard library. The Makefile
 * states the location of the library, so that Python does not search for it:
 *
 *     SEARCHLIGHT_PYTHON_PROGRAM  the program of the interpreter
 *     SEARCHLIGHT_PYTHON_LIBRARY  the modules of the standard library in Python
 *     SEARCHLIGHT_PYTHON_DYNAMIC  those in C
 */
#include "searchlight_python.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct connection connection;

struct searchlight_extension {
    PyObject *instance; /* an instance of the author's class */
    PyObject *answer;   /* the function _answer in searchlight.py */
};

/* ---- Requests ------------------------------------------------------------------------------ */

PyObject *list_of_texts(const char *const *texts, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list == NULL) return NULL;
    for (size_t i = 0; i < count; i++) {
        PyObject *text = PyUnicode_FromString(texts[i]);
        if (text == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, (Py_ssize_t)i, text);
    }
    return list;
}

/* Lets one of the author's functions answer a request. Takes ownership of the arguments, a
 * tuple, or NULL if it could not be created. _answer turns exceptions into answers, so an
 * exception here means that memory ran out while doing so. */
static void answer(searchlight_extension *extension, searchlight_request request, const char *name,
                   PyObject *arguments) {
    PyObject *result = NULL;
    if (arguments != NULL)
        result = PyObject_CallFunction(extension->answer, "OKsN", extension->instance, (unsigned long long)request,
                                       name, arguments);
    if (result == NULL) {
        PyErr_WriteUnraisable(extension->answer);
        if (request != 0)
            connection.request->finish(connection.host, request, SEARCHLIGHT_FAILED,
                                       "Python could not answer; its standard error has the reason");
    }
    Py_XDECREF(result);
}

static void reindex_all(searchlight_extension *extension, searchlight_request request) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, request, "reindex_all", PyTuple_New(0));
    PyGILState_Release(lock);
}

static void reindex_items(searchlight_extension *extension, searchlight_request request,
                          const char *const *identifiers, size_t count) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, request, "reindex_items", Py_BuildValue("(N)", list_of_texts(identifiers, count)));
    PyGILState_Release(lock);
}

static void reindex_page(searchlight_extension *extension, searchlight_request request, const searchlight_page *page) {
    PyGILState_STATE lock = PyGILState_Ensure();
    /* "y#" converts NULL to None. */
    answer(extension, request, "reindex_page",
           Py_BuildValue("(y#KII)", (const char *)page->cursor, (Py_ssize_t)page->cursor_length,
                         (unsigned long long)page->memory_limit, (unsigned)page->items, (unsigned)page->milliseconds));
    PyGILState_Release(lock);
}

static void update_files(searchlight_extension *extension, searchlight_request request,
                         const searchlight_change *const *changes, size_t count) {
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *change = Py_BuildValue("(isz)", (int)changes[i]->kind, changes[i]->path, changes[i]->previous_path);
        if (change != NULL) PyList_SET_ITEM(list, (Py_ssize_t)i, change);
        else Py_CLEAR(list);
    }
    answer(extension, request, "update_files", Py_BuildValue("(N)", list));
    PyGILState_Release(lock);
}

static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, request, "provide_data", Py_BuildValue("(ss)", item, type));
    PyGILState_Release(lock);
}

static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                         const char *type, int32_t in_place) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, request, "provide_file", Py_BuildValue("(ssO)", item, type, in_place ? Py_True : Py_False));
    PyGILState_Release(lock);
}

static void preview(searchlight_extension *extension, searchlight_request request, const char *item, const char *query,
                    const char *content_path) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, request, "preview", Py_BuildValue("(szz)", item, query, content_path));
    PyGILState_Release(lock);
}

static void did_throttle(searchlight_extension *extension, const searchlight_throttle_notice *notice) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, 0, "did_throttle", Py_BuildValue("(id)", (int)notice->reason, notice->items_per_second));
    PyGILState_Release(lock);
}

static void did_finish_throttle(searchlight_extension *extension) {
    PyGILState_STATE lock = PyGILState_Ensure();
    answer(extension, 0, "did_finish_throttle", PyTuple_New(0));
    PyGILState_Release(lock);
}

static const searchlight_extension_reindex reindex_table = {sizeof(searchlight_extension_reindex), 0,
                                                           reindex_all, reindex_items};
static const searchlight_extension_paging paging_table = {sizeof(searchlight_extension_paging), 0, reindex_page};
static const searchlight_extension_changes changes_table = {sizeof(searchlight_extension_changes), 0, update_files};
static const searchlight_extension_promises promises_table = {sizeof(searchlight_extension_promises), 0,
                                                             provide_data, provide_file};
static const searchlight_extension_preview preview_table = {sizeof(searchlight_extension_preview), 0, preview};
static const searchlight_extension_throttle throttle_table = {sizeof(searchlight_extension_throttle), 0,
                                                             did_throttle, did_finish_throttle};

/* An interface is supported if the author's class has at least one of its functions. */
static const struct {
    const char *identifier;
    const void *table;
    const char *functions[2];
} interfaces[] = {
    {SEARCHLIGHT_EXTENSION_REINDEX, &reindex_table, {"reindex_all", "reindex_items"}},
    {SEARCHLIGHT_EXTENSION_PAGING, &paging_table, {"reindex_page", NULL}},
    {SEARCHLIGHT_EXTENSION_CHANGES, &changes_table, {"update_files", NULL}},
    {SEARCHLIGHT_EXTENSION_PROMISES, &promises_table, {"provide_data", "provide_file"}},
    {SEARCHLIGHT_EXTENSION_PREVIEW, &preview_table, {"preview", NULL}},
    {SEARCHLIGHT_EXTENSION_THROTTLE, &throttle_table, {"did_throttle", "did_finish_throttle"}},
};

static const void *get_interface(searchlight_extension *extension, const char *identifier) {
    const void *table = NULL;
    PyGILState_STATE lock = PyGILState_Ensure();
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces && table == NULL; i++) {
        if (strcmp(interfaces[i].identifier, identifier) != 0) continue;
        for (size_t f = 0; f < 2 && interfaces[i].functions[f] != NULL; f++)
            if (PyObject_HasAttrString(extension->instance, interfaces[i].functions[f])) table = interfaces[i].table;
    }
    PyGILState_Release(lock);
    return table;
}

/* ---- The interpreter ----------------------------------------------------------------------- */

static int append_path(PyConfig *config, const char *path) {
    wchar_t *wide = Py_DecodeLocale(path, NULL);
    if (wide == NULL) return 0;
    PyStatus status = PyWideStringList_Append(&config->module_search_paths, wide);
    PyMem_RawFree(wide);
    return !PyStatus_Exception(status);
}

/* Starts the interpreter, and then releases its lock. Returns NULL, or the reason why the
 * interpreter did not start. */
static const char *start(const char *bundle) {
    char modules[4096];
    if (snprintf(modules, sizeof modules, "%s/python", bundle) >= (int)sizeof modules)
        return "the path of the bundle is too long";
    /* The host loads an extension, and therefore also libpython, with local symbols. Modules
     * written in C, such as _sqlite3, are not linked with libpython but need its symbols. */
    Dl_info library;
    if (dladdr((void *)(uintptr_t)Py_IsInitialized, &library) != 0 && library.dli_fname != NULL)
        (void)dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);

    PyPreConfig early;
    PyPreConfig_InitIsolatedConfig(&early);
    early.utf8_mode = 1; /* texts and file names are UTF-8 in any locale */
    PyStatus status = Py_PreInitialize(&early);
    if (PyStatus_Exception(status)) return status.err_msg;

    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0; /* only the standard library; saves a third of the start-up time */
    config.write_bytecode = 0;
    config.pathconfig_warnings = 0;
    config.module_search_paths_set = 1;
    status = PyConfig_SetBytesString(&config, &config.executable, SEARCHLIGHT_PYTHON_PROGRAM);
#if PY_VERSION_HEX >= 0x030B0000
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesString(&config, &config.stdlib_dir, SEARCHLIGHT_PYTHON_LIBRARY);
#endif
    int is_set = !PyStatus_Exception(status) && append_path(&config, modules) &&
                 append_path(&config, SEARCHLIGHT_PYTHON_LIBRARY) && append_path(&config, SEARCHLIGHT_PYTHON_DYNAMIC);
    if (is_set && PyImport_AppendInittab("_searchlight", create_host_module) == 0)
        status = Py_InitializeFromConfig(&config);
    else if (!PyStatus_Exception(status)) status = PyStatus_NoMemory();
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) return status.err_msg != NULL ? status.err_msg : "Python did not start";
    (void)PyEval_SaveThread();
    return NULL;
}

/* ---- The entry ----------------------------------------------------------------------------- */

static const void *interface_of(const searchlight_host *host, const char *identifier) {
    return host->get_interface(host, identifier);
}

static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                 size_t capacity) {
    connection = (struct connection){
        .host = host,
        .request = interface_of(host, SEARCHLIGHT_HOST_REQUEST),
        .items = interface_of(host, SEARCHLIGHT_HOST_ITEMS),
        .batch = interface_of(host, SEARCHLIGHT_HOST_BATCH),
        .keys = interface_of(host, SEARCHLIGHT_HOST_CUSTOM_KEYS),
        .rename = interface_of(host, SEARCHLIGHT_HOST_RENAME),
        .listing = interface_of(host, SEARCHLIGHT_HOST_LISTING),
        .cancel = interface_of(host, SEARCHLIGHT_HOST_CANCEL),
        .progress = interface_of(host, SEARCHLIGHT_HOST_PROGRESS),
        .log = interface_of(host, SEARCHLIGHT_HOST_LOG),
        .left_out = interface_of(host, SEARCHLIGHT_HOST_LEFT_OUT),
        .content = interface_of(host, SEARCHLIGHT_HOST_CONTENT),
        .protection = interface_of(host, SEARCHLIGHT_HOST_PROTECTION),
    };
    if (connection.request == NULL || connection.items == NULL || connection.batch == NULL) {
        snprintf(error, capacity, "the host lacks requests, items or batches; update Searchlight");
        return SEARCHLIGHT_UNSUPPORTED;
    }
    /* The validator can create the object again in the same process. */
    if (!Py_IsInitialized()) {
        const char *reason = start(host->bundle_path);
        if (reason != NULL) {
            snprintf(error, capacity, "Python did not start: %s. Build the extension again with the Python of this machine",
                     reason);
            return SEARCHLIGHT_FAILED;
        }
    }
    searchlight_extension *object = calloc(1, sizeof *object);
    if (object == NULL) return SEARCHLIGHT_FAILED;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("searchlight");
    if (module != NULL) {
        object->answer = PyObject_GetAttrString(module, "_answer");
        if (object->answer != NULL) object->instance = PyObject_CallMethod(module, "_create", NULL);
        Py_DECREF(module);
    }
    searchlight_status status = SEARCHLIGHT_OK;
    if (object->instance == NULL) {
        PyErr_WriteUnraisable(NULL);
        snprintf(error, capacity, "searchlight.py of the bundle cannot be imported; standard error has the reason");
        status = SEARCHLIGHT_FAILED;
    } else if (PyUnicode_Check(object->instance)) {
        const char *reason = PyUnicode_AsUTF8(object->instance);
        if (reason == NULL) PyErr_Clear();
        snprintf(error, capacity, "%s", reason == NULL ? "extension.py failed" : reason);
        status = SEARCHLIGHT_FAILED;
    }
    if (status != SEARCHLIGHT_OK) {
        Py_XDECREF(object->answer);
        Py_XDECREF(object->instance);
        free(object);
    } else {
        *extension = object;
    }
    PyGILState_Release(lock);
    return status;
}

static void destroy(searchlight_extension *extension) {
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_DECREF(extension->answer);
    Py_DECREF(extension->instance);
    PyGILState_Release(lock);
    free(extension);
}

static const searchlight_extension_entry entry = {
    .size = sizeof entry,
    .abi_major = SEARCHLIGHT_ABI_MAJOR,
    .abi_minor = SEARCHLIGHT_ABI_MINOR,
    .create = create,
    .destroy = destroy,
    .get_interface = get_interface,
};

SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void);
const searchlight_extension_entry *searchlight_extension_entry_point(void) { return &entry; }
