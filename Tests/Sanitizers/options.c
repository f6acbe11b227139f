/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sanitizer options for every program that Scripts/sanitize builds. They are not set in the
 * environment, because tests, the host and the service start programs with other environments, and
 * no report must be lost.
 *
 * SEARCHLIGHT_REPORTS is the folder for reports. SEARCHLIGHT_SUPPRESSIONS is the file with
 * ThreadSanitizer's suppressions. SEARCHLIGHT_SYMBOLIZER is the program that symbolizes addresses.
 */

/* A worker must grant itself access to this folder; see csandbox_internal.h. */
const char searchlight_sanitizer_reports[] = SEARCHLIGHT_REPORTS;

/*
 * Signals are not handled. A worker that crashes on purpose must be terminated by its signal,
 * because the host reports the signal. Any other crash fails its test. A program with a finding
 * exits with status 99, which no other program in this project uses.
 */
#define COMMON                                                                                                     \
    "log_path=" SEARCHLIGHT_REPORTS "/report:external_symbolizer_path=" SEARCHLIGHT_SYMBOLIZER ":exitcode=99:"     \
    "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0:handle_abort=0:"               \
    "allocator_may_return_null=1:"

/*
 * Leaks are not detected. LeakSanitizer stops a process with ptrace when it exits, which is
 * forbidden to a worker. Its reports for the test process, which keeps much memory until it exits,
 * have not been evaluated. It works with the Swift runtime: it finds a reference cycle in a small
 * program and reports nothing without one.
 */
const char *__asan_default_options(void) { return COMMON "detect_leaks=0"; }

/* The AddressSanitizer runtime reads these options after those above. */
const char *__ubsan_default_options(void) { return COMMON "print_stacktrace=1"; }

/* Continues after a race, so that one run finds all races. */
const char *__tsan_default_options(void) {
    return COMMON "halt_on_error=0:second_deadlock_stack=1:suppressions=" SEARCHLIGHT_SUPPRESSIONS;
}
