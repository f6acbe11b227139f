/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a fault that a sanitizer must find. Scripts/sanitize runs it first, to check that
 * reports arrive. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static long counter;

static void *count(void *unused) {
    for (int i = 0; i < 100000; i++) counter++;
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    if (strcmp(argv[1], "address") == 0) {
        volatile char *text = malloc(16);
        if (text == NULL) return 71;
        free((void *)text);
        return text[3];
    }
    if (strcmp(argv[1], "undefined") == 0) {
        volatile int large = INT_MAX;
        large = large + argc;
        return large == 0;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, NULL) != 0) return 71;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return counter == 0;
}
