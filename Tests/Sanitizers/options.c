/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every program that Scripts/sanitize builds: how its sanitizer goes about things. Not in the
 * environment, since tests, the host and the service start programs with environments of their own, and what is
 * found there must not be lost.
 *
 * SEARCHLIGHT_REPORTS is the folder for reports, SEARCHLIGHT_SUPPRESSIONS the file that says what ThreadSanitizer
 * passes over, SEARCHLIGHT_SYMBOLIZER the program that gives names to addresses.
 */

/* A worker has to open this folder to itself: see csandbox_internal.h. */
const char searchlight_sanitizer_reports[] = SEARCHLIGHT_REPORTS;

/*
 * Signals are not handled. A worker that crashes on purpose must end by its signal, because the host reports the signal. Any other
 * crash fails its test. A program with a finding ends with 99, which no other program of this project does.
 */
#define COMMON                                                                                                     \
    "log_path=" SEARCHLIGHT_REPORTS "/report:external_symbolizer_path=" SEARCHLIGHT_SYMBOLIZER ":exitcode=99:"     \
    "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0:handle_abort=0:"               \
    "allocator_may_return_null=1:"

/*
 * Leaks are not looked for: LeakSanitizer stops a process with ptrace at its end, which a worker may not, and what it
 * says of the tests' own process, which keeps much until its end, was never judged. With the Swift runtime it does
 * work: a small program with a cycle of references is found out, and one without has nothing reported.
 */
const char *__asan_default_options(void) { return COMMON "detect_leaks=0"; }

/* Read by AddressSanitizer's runtime after the above. */
const char *__ubsan_default_options(void) { return COMMON "print_stacktrace=1"; }

/* Goes on after a race, so that one run finds them all. */
const char *__tsan_default_options(void) {
    return COMMON "halt_on_error=0:second_deadlock_stack=1:suppressions=" SEARCHLIGHT_SUPPRESSIONS;
}
