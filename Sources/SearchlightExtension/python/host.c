/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module _searchlight: the host's functions for searchlight.py, where each of them is
 * documented. Failures are raised as searchlight.Error.
 */
#include "searchlight_python.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures ------------------------------------------------------------------------------ */

static PyObject *error_class; /* set by set_error_class before anything else */

/* Raises an error. message: nullable. */
static void raise_error(searchlight_status status, const char *message) {
    if (error_class == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "import searchlight, not _searchlight");
        return;
    }
    PyObject *error =
        PyObject_CallFunction(error_class, "is", (int)status, message == NULL ? "no reason was given" : message);
    if (error == NULL) return;
    PyErr_SetObject(error_class, error);
    Py_DECREF(error);
}

/* Returns None, or NULL with an exception set that names the failed step. */
static PyObject *checked(searchlight_status status, const char *step) {
    if (status == SEARCHLIGHT_OK) Py_RETURN_NONE;
    char message[256];
    PyOS_snprintf(message, sizeof message, "%.200s failed", step);
    raise_error(status, message);
    return NULL;
}

/* Returns 1 if the host has an interface, or 0 with an exception set. */
static int has(const void *interface, const char *missing) {
    if (interface == NULL) raise_error(SEARCHLIGHT_UNSUPPORTED, missing);
    return interface != NULL;
}

/* ---- Waiting for the host ------------------------------------------------------------------ */

/* An answer from the host. It is stored on the stack of the thread that waits for it. */
struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int is_answered;
    searchlight_status status;
    char *message;
    char *bytes; /* a client state, or consecutive identifiers with their NULs */
    size_t length, count;
};

static void prepare(struct waiting *waiting) {
    memset(waiting, 0, sizeof *waiting);
    pthread_mutex_init(&waiting->lock, NULL);
    pthread_cond_init(&waiting->answered, NULL);
}

/* Wakes the waiting thread. The answer must not be used after this. */
static void wake(struct waiting *waiting, searchlight_status status, const char *message) {
    pthread_mutex_lock(&waiting->lock);
    waiting->status = status;
    waiting->message = message == NULL ? NULL : strdup(message);
    waiting->is_answered = 1;
    pthread_cond_signal(&waiting->answered);
    pthread_mutex_unlock(&waiting->lock);
}

static void wait_for_answer(struct waiting *waiting) {
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->is_answered) pthread_cond_wait(&waiting->answered, &waiting->lock);
    pthread_mutex_unlock(&waiting->lock);
}

/* Ends the wait. Returns 1, or 0 with an exception set. */
static int is_good(struct waiting *waiting, searchlight_status sent, const char *step) {
    searchlight_status status = sent != SEARCHLIGHT_OK ? sent : waiting->status;
    if (sent != SEARCHLIGHT_OK) Py_XDECREF(checked(status, step));
    else if (status != SEARCHLIGHT_OK) raise_error(status, waiting->message);
    pthread_cond_destroy(&waiting->answered);
    pthread_mutex_destroy(&waiting->lock);
    free(waiting->message);
    return status == SEARCHLIGHT_OK;
}

static void take_completion(void *context, searchlight_status status, const char *message) {
    wake(context, status, message);
}

static void take_state(void *context, searchlight_status status, const char *message, const void *state,
                       size_t length) {
    struct waiting *waiting = context;
    if (state != NULL) waiting->bytes = malloc(length + 1);
    if (waiting->bytes != NULL && length > 0) memcpy(waiting->bytes, state, length);
    waiting->length = length;
    if (state != NULL && waiting->bytes == NULL) wake(waiting, SEARCHLIGHT_FAILED, "there is no memory");
    else wake(waiting, status, message);
}

static void take_listing(void *context, searchlight_status status, const char *message,
                         const char *const *identifiers, size_t count) {
    struct waiting *waiting = context;
    for (size_t i = 0; i < count; i++) waiting->length += strlen(identifiers[i]) + 1;
    waiting->bytes = malloc(waiting->length + 1);
    if (waiting->bytes == NULL) {
        wake(waiting, SEARCHLIGHT_FAILED, "there is no memory");
        return;
    }
    char *place = waiting->bytes;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(identifiers[i]) + 1;
        memcpy(place, identifiers[i], length);
        place += length;
    }
    waiting->count = count;
    wake(waiting, status, message);
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* The texts of a Python sequence, valid for as long as the sequence exists. */
struct texts {
    PyObject *sequence;
    const char **pointers;
    size_t count;
};

static void release_texts(struct texts *texts) {
    PyMem_Free(texts->pointers);
    Py_XDECREF(texts->sequence);
}

/* Returns 1, or 0 with an exception set. Call release_texts in either case. */
static int take_texts(PyObject *object, struct texts *texts) {
    memset(texts, 0, sizeof *texts);
    /* A str is itself a sequence of texts, but passing one is always a mistake. */
    if (PyUnicode_Check(object)) PyErr_SetString(PyExc_TypeError, "a list of texts is needed, not one text");
    else texts->sequence = PySequence_Tuple(object);
    if (texts->sequence == NULL) return 0;
    texts->count = (size_t)PyTuple_GET_SIZE(texts->sequence);
    texts->pointers = PyMem_New(const char *, texts->count + 1);
    if (texts->pointers == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t i = 0; i < texts->count; i++) {
        Py_ssize_t length;
        PyObject *text = PyTuple_GET_ITEM(texts->sequence, (Py_ssize_t)i);
        texts->pointers[i] = PyUnicode_AsUTF8AndSize(text, &length);
        if (texts->pointers[i] == NULL) return 0;
        if (strlen(texts->pointers[i]) != (size_t)length) {
            PyErr_SetString(PyExc_ValueError, "a text has a NUL character");
            return 0;
        }
    }
    return 1;
}

/* ---- Items --------------------------------------------------------------------------------- */

static const char item_kind[] = "searchlight.Item", batch_kind[] = "searchlight.Batch";

static void release_item(PyObject *capsule) {
    connection.items->release(PyCapsule_GetPointer(capsule, item_kind));
}

static PyObject *item_create(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *identifier, *domain, *type;
    if (!PyArg_ParseTuple(arguments, "szz", &identifier, &domain, &type)) return NULL;
    searchlight_item *item = connection.items->create(connection.host, identifier, domain, type);
    if (item == NULL) return checked(SEARCHLIGHT_INVALID_ARGUMENT, "creating an item");
    PyObject *capsule = PyCapsule_New(item, item_kind, release_item);
    if (capsule == NULL) connection.items->release(item);
    return capsule;
}

static PyObject *set_texts(searchlight_item *item, const char *name, PyObject *value) {
    struct texts texts;
    PyObject *result = NULL;
    if (take_texts(value, &texts))
        result = checked(connection.items->set_strings(item, name, texts.pointers, texts.count), name);
    release_texts(&texts);
    return result;
}

/* Sets an attribute to a value of any type except a date. */
static PyObject *item_set(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *value;
    const char *name;
    const searchlight_host_items *items = connection.items;
    if (!PyArg_ParseTuple(arguments, "OsO", &capsule, &name, &value)) return NULL;
    searchlight_item *item = PyCapsule_GetPointer(capsule, item_kind);
    if (item == NULL) return NULL;
    if (PyBool_Check(value)) return checked(items->set_boolean(item, name, value == Py_True), name);
    if (PyLong_Check(value)) {
        long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) return NULL;
        return checked(items->set_integer(item, name, number), name);
    }
    if (PyFloat_Check(value)) return checked(items->set_number(item, name, PyFloat_AS_DOUBLE(value)), name);
    if (PyUnicode_Check(value)) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(value, &length);
        if (text == NULL) return NULL;
        if (strlen(text) != (size_t)length) return checked(SEARCHLIGHT_INVALID_ARGUMENT, "setting a text with a NUL");
        return checked(items->set_string(item, name, text), name);
    }
    if (PyBytes_Check(value))
        return checked(items->set_data(item, name, PyBytes_AS_STRING(value), (size_t)PyBytes_GET_SIZE(value)), name);
    return set_texts(item, name, value);
}

static PyObject *item_set_date(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    const char *name;
    double seconds;
    if (!PyArg_ParseTuple(arguments, "Osd", &capsule, &name, &seconds)) return NULL;
    searchlight_item *item = PyCapsule_GetPointer(capsule, item_kind);
    return item == NULL ? NULL : checked(connection.items->set_date(item, name, seconds), name);
}

static PyObject *item_expire(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    double seconds;
    if (!PyArg_ParseTuple(arguments, "Od", &capsule, &seconds)) return NULL;
    searchlight_item *item = PyCapsule_GetPointer(capsule, item_kind);
    return item == NULL ? NULL : checked(connection.items->set_expiration(item, seconds), "setting the expiration");
}

static PyObject *item_traits(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    const char *name;
    unsigned traits;
    if (!PyArg_ParseTuple(arguments, "OsI", &capsule, &name, &traits)) return NULL;
    searchlight_item *item = PyCapsule_GetPointer(capsule, item_kind);
    if (item == NULL || !has(connection.keys, "this host has no traits of attributes")) return NULL;
    return checked(connection.keys->set_traits(item, name, traits), name);
}

/* ---- Batches ------------------------------------------------------------------------------- */

static void release_batch(PyObject *capsule) {
    connection.batch->release(PyCapsule_GetPointer(capsule, batch_kind));
}

static PyObject *batch_create(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    searchlight_batch *batch = connection.batch->create(connection.host);
    if (batch == NULL) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(batch, batch_kind, release_batch);
    if (capsule == NULL) connection.batch->release(batch);
    return capsule;
}

static PyObject *batch_add(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *item_capsule;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &item_capsule)) return NULL;
    searchlight_batch *batch = PyCapsule_GetPointer(capsule, batch_kind);
    searchlight_item *item = batch == NULL ? NULL : PyCapsule_GetPointer(item_capsule, item_kind);
    return item == NULL ? NULL : checked(connection.batch->index_items(batch, &item, 1), "adding an item to the batch");
}

/* Adds the deletion of items (what: 0) or domains (1). */
static PyObject *batch_remove(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *list, *result = NULL;
    int what;
    if (!PyArg_ParseTuple(arguments, "OiO", &capsule, &what, &list)) return NULL;
    searchlight_batch *batch = PyCapsule_GetPointer(capsule, batch_kind);
    if (batch == NULL) return NULL;
    struct texts texts;
    if (take_texts(list, &texts)) {
        searchlight_status status = what == 0 ? connection.batch->delete_items(batch, texts.pointers, texts.count)
                                              : connection.batch->delete_domains(batch, texts.pointers, texts.count);
        result = checked(status, "adding a deletion to the batch");
    }
    release_texts(&texts);
    return result;
}

static PyObject *batch_remove_all(PyObject *module, PyObject *capsule) {
    (void)module;
    searchlight_batch *batch = PyCapsule_GetPointer(capsule, batch_kind);
    return batch == NULL ? NULL : checked(connection.batch->delete_all(batch), "adding a deletion to the batch");
}

static PyObject *batch_rename(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *old_list, *new_list, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &capsule, &old_list, &new_list)) return NULL;
    searchlight_batch *batch = PyCapsule_GetPointer(capsule, batch_kind);
    if (batch == NULL || !has(connection.rename, "this host cannot rename items")) return NULL;
    struct texts old_texts, new_texts = {NULL, NULL, 0};
    if (take_texts(old_list, &old_texts) && take_texts(new_list, &new_texts)) {
        if (old_texts.count == new_texts.count)
            result = checked(connection.rename->rename_in_batch(batch, old_texts.pointers, new_texts.pointers,
                                                                old_texts.count),
                             "adding new identifiers to the batch");
        else PyErr_SetString(PyExc_ValueError, "as many new identifiers as old ones are needed");
    }
    release_texts(&old_texts);
    release_texts(&new_texts);
    return result;
}

static PyObject *batch_commit(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    const char *index, *state, *expected;
    Py_ssize_t state_length, expected_length;
    int expectation;
    if (!PyArg_ParseTuple(arguments, "Ozz#iz#", &capsule, &index, &state, &state_length, &expectation, &expected,
                          &expected_length))
        return NULL;
    searchlight_batch *batch = PyCapsule_GetPointer(capsule, batch_kind);
    if (batch == NULL) return NULL;
    struct waiting waiting;
    searchlight_status sent;
    prepare(&waiting);
    Py_BEGIN_ALLOW_THREADS
    sent = connection.batch->commit(connection.host, index, batch, state, (size_t)state_length, expectation, expected,
                                    (size_t)expected_length, take_completion, &waiting);
    if (sent == SEARCHLIGHT_OK) wait_for_answer(&waiting);
    Py_END_ALLOW_THREADS
    if (!is_good(&waiting, sent, "sending the batch")) return NULL;
    Py_RETURN_NONE;
}

static PyObject *read_state(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *index;
    if (!PyArg_ParseTuple(arguments, "z", &index)) return NULL;
    struct waiting waiting;
    searchlight_status sent;
    prepare(&waiting);
    Py_BEGIN_ALLOW_THREADS
    sent = connection.batch->read_state(connection.host, index, take_state, &waiting);
    if (sent == SEARCHLIGHT_OK) wait_for_answer(&waiting);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    /* "y#" converts NULL to None. */
    if (is_good(&waiting, sent, "requesting the client state"))
        result = Py_BuildValue("y#", waiting.bytes, (Py_ssize_t)waiting.length);
    free(waiting.bytes);
    return result;
}

static PyObject *set_class(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *index;
    int protection_class;
    if (!PyArg_ParseTuple(arguments, "si", &index, &protection_class)) return NULL;
    if (!has(connection.protection, "this host cannot encrypt an index")) return NULL;
    return checked(connection.protection->set_class(connection.host, index, protection_class),
                   "setting the class of an index");
}

static PyObject *list_items(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *index, *after;
    unsigned limit;
    if (!PyArg_ParseTuple(arguments, "zzI", &index, &after, &limit)) return NULL;
    if (!has(connection.listing, "this host cannot list items")) return NULL;
    struct waiting waiting;
    searchlight_status sent;
    prepare(&waiting);
    Py_BEGIN_ALLOW_THREADS
    sent = connection.listing->list_items(connection.host, index, after, limit, take_listing, &waiting);
    if (sent == SEARCHLIGHT_OK) wait_for_answer(&waiting);
    Py_END_ALLOW_THREADS
    PyObject *list = NULL;
    if (is_good(&waiting, sent, "requesting a list of items")) list = PyList_New((Py_ssize_t)waiting.count);
    const char *place = waiting.bytes;
    for (size_t i = 0; list != NULL && i < waiting.count; i++) {
        PyObject *text = PyUnicode_FromString(place);
        if (text != NULL) PyList_SET_ITEM(list, (Py_ssize_t)i, text);
        else Py_CLEAR(list);
        place += strlen(place) + 1;
    }
    free(waiting.bytes);
    return list;
}

/* ---- Requests ------------------------------------------------------------------------------ */

static PyObject *finish(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    int status;
    const char *message;
    if (!PyArg_ParseTuple(arguments, "Kiz", &request, &status, &message)) return NULL;
    connection.request->finish(connection.host, request, status, message);
    Py_RETURN_NONE;
}

static PyObject *finish_data(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(arguments, "Ky*", &request, &bytes)) return NULL;
    connection.request->finish_with_data(connection.host, request, bytes.buf, (size_t)bytes.len);
    PyBuffer_Release(&bytes);
    Py_RETURN_NONE;
}

static PyObject *finish_file(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    const char *path;
    int remove_after;
    if (!PyArg_ParseTuple(arguments, "Ksp", &request, &path, &remove_after)) return NULL;
    connection.request->finish_with_file(connection.host, request, path, remove_after);
    Py_RETURN_NONE;
}

/* Takes (request, descriptor, name). Returns False if the host takes no descriptors. */
static PyObject *finish_descriptor(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    int descriptor;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Kiz", &request, &descriptor, &name)) return NULL;
    if (connection.content == NULL) Py_RETURN_FALSE;
    connection.content->finish_with_descriptor(connection.host, request, descriptor, name);
    Py_RETURN_TRUE;
}

static const char stream_kind[] = "searchlight_stream";

static void end_stream(PyObject *capsule) {
    connection.content->end(PyCapsule_GetPointer(capsule, stream_kind));
}

/* Takes (request, length). Returns None if the host has no streams. */
static PyObject *stream_begin(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request, length;
    if (!PyArg_ParseTuple(arguments, "KK", &request, &length)) return NULL;
    if (connection.content == NULL) Py_RETURN_NONE;
    searchlight_stream *stream = connection.content->finish_with_stream(connection.host, request, length);
    if (stream == NULL) {
        raise_error(SEARCHLIGHT_UNAVAILABLE, "there are too many streams or descriptors; end a stream first");
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(stream, stream_kind, end_stream);
    if (capsule == NULL) connection.content->end(stream);
    return capsule;
}

/* Takes (stream, bytes). Returns False if the receiver has gone. */
static PyObject *stream_write(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(arguments, "Oy*", &capsule, &bytes)) return NULL;
    searchlight_stream *stream = PyCapsule_GetPointer(capsule, stream_kind);
    searchlight_status status = SEARCHLIGHT_INVALID_ARGUMENT;
    if (stream != NULL) {
        Py_BEGIN_ALLOW_THREADS
        status = connection.content->write(stream, bytes.buf, (size_t)bytes.len);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&bytes);
    if (stream == NULL) return NULL;
    if (status == SEARCHLIGHT_CANCELLED) Py_RETURN_FALSE;
    if (status == SEARCHLIGHT_OK) Py_RETURN_TRUE;
    return checked(status, "writing to a stream");
}

static PyObject *stream_end(PyObject *module, PyObject *capsule) {
    (void)module;
    if (PyCapsule_GetPointer(capsule, stream_kind) == NULL) return NULL;
    end_stream(capsule);
    if (PyCapsule_SetDestructor(capsule, NULL) != 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *finish_page(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    const char *cursor;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "Kz#", &request, &cursor, &length)) return NULL;
    connection.request->finish_page(connection.host, request, cursor, (size_t)length);
    Py_RETURN_NONE;
}

enum { maximum_attachments = 256 };

/* Takes (request, type, title, bytes, width, height, attachments); an attachment is the tuple
 * (identifier, type, bytes). */
static PyObject *finish_preview(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    searchlight_preview_reply reply = {.size = sizeof reply};
    Py_ssize_t length;
    PyObject *list;
    if (!PyArg_ParseTuple(arguments, "Kszy#ddO!", &request, &reply.content_type, &reply.title, &reply.bytes, &length,
                          &reply.width, &reply.height, &PyTuple_Type, &list))
        return NULL;
    reply.length = (size_t)length;
    Py_ssize_t count = PyTuple_GET_SIZE(list);
    if (count > maximum_attachments) {
        raise_error(SEARCHLIGHT_TOO_LARGE, "a preview has at most 256 attachments");
        return NULL;
    }
    searchlight_attachment attachments[maximum_attachments];
    const searchlight_attachment *pointers[maximum_attachments];
    for (Py_ssize_t i = 0; i < count; i++) {
        attachments[i] = (searchlight_attachment){.size = sizeof *attachments};
        if (!PyTuple_Check(PyTuple_GET_ITEM(list, i))) {
            PyErr_SetString(PyExc_TypeError, "an attachment is a tuple of an identifier, a type and bytes");
            return NULL;
        }
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, i), "ssy#", &attachments[i].identifier,
                              &attachments[i].content_type, &attachments[i].bytes, &length))
            return NULL;
        attachments[i].length = (size_t)length;
        pointers[i] = &attachments[i];
    }
    reply.attachment_count = (uint32_t)count;
    reply.attachments = pointers;
    connection.request->finish_with_preview(connection.host, request, &reply);
    Py_RETURN_NONE;
}

static PyObject *is_cancelled(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request;
    if (!PyArg_ParseTuple(arguments, "K", &request)) return NULL;
    return PyBool_FromLong(connection.cancel != NULL && connection.cancel->is_cancelled(connection.host, request) != 0);
}

static PyObject *report_progress(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long request, completed, total;
    if (!PyArg_ParseTuple(arguments, "KKK", &request, &completed, &total)) return NULL;
    if (connection.progress != NULL) connection.progress->report(connection.host, request, completed, total);
    Py_RETURN_NONE;
}

/* ---- The module ---------------------------------------------------------------------------- */

static PyObject *write_log(PyObject *module, PyObject *arguments) {
    (void)module;
    int level;
    const char *message;
    if (!PyArg_ParseTuple(arguments, "is", &level, &message)) return NULL;
    if (connection.log != NULL) connection.log->log(connection.host, level, message);
    Py_RETURN_NONE;
}

static PyObject *report_left_out(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name, *reason;
    if (!PyArg_ParseTuple(arguments, "ss", &name, &reason)) return NULL;
    if (connection.left_out != NULL) connection.left_out->report(connection.host, name, reason);
    Py_RETURN_NONE;
}

static PyObject *bundle(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return Py_BuildValue("ss", connection.host->bundle_identifier, connection.host->bundle_path);
}

static PyObject *set_error_class(PyObject *module, PyObject *class) {
    (void)module;
    Py_INCREF(class);
    Py_XSETREF(error_class, class);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_error_class", set_error_class, METH_O, NULL},
    {"bundle", bundle, METH_NOARGS, NULL},
    {"log", write_log, METH_VARARGS, NULL},
    {"report_left_out", report_left_out, METH_VARARGS, NULL},
    {"list_items", list_items, METH_VARARGS, NULL},
    {"set_class", set_class, METH_VARARGS, NULL},
    {"read_state", read_state, METH_VARARGS, NULL},
    {"item_create", item_create, METH_VARARGS, NULL},
    {"item_set", item_set, METH_VARARGS, NULL},
    {"item_set_date", item_set_date, METH_VARARGS, NULL},
    {"item_expire", item_expire, METH_VARARGS, NULL},
    {"item_traits", item_traits, METH_VARARGS, NULL},
    {"batch_create", batch_create, METH_NOARGS, NULL},
    {"batch_add", batch_add, METH_VARARGS, NULL},
    {"batch_remove", batch_remove, METH_VARARGS, NULL},
    {"batch_remove_all", batch_remove_all, METH_O, NULL},
    {"batch_rename", batch_rename, METH_VARARGS, NULL},
    {"batch_commit", batch_commit, METH_VARARGS, NULL},
    {"finish", finish, METH_VARARGS, NULL},
    {"finish_data", finish_data, METH_VARARGS, NULL},
    {"finish_file", finish_file, METH_VARARGS, NULL},
    {"finish_descriptor", finish_descriptor, METH_VARARGS, NULL},
    {"stream_begin", stream_begin, METH_VARARGS, NULL},
    {"stream_write", stream_write, METH_VARARGS, NULL},
    {"stream_end", stream_end, METH_O, NULL},
    {"finish_page", finish_page, METH_VARARGS, NULL},
    {"finish_preview", finish_preview, METH_VARARGS, NULL},
    {"is_cancelled", is_cancelled, METH_VARARGS, NULL},
    {"progress", report_progress, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_searchlight", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC create_host_module(void) { return PyModule_Create(&definition); }
