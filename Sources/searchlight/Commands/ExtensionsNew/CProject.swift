// SPDX-License-Identifier: Apache-2.0

extension Project {
    /// One source in C.
    ///
    /// - Parameter searchlight: Where Searchlight's source is, for the header; `nil` if it is installed.
    static func c(_ names: ProjectNames, searchlight: String?) -> Project {
        let source = "\(names.module).c"
        let headers = searchlight.map {
            $0.replacingOccurrences(of: "$", with: "$$") + "/Sources/SearchlightExtension/include"
        }
        let flags = """
            CC := $(firstword $(shell command -v cc clang gcc))
            # The folder of searchlight_extension.h; if it is empty, that of the installed one.
            SEARCHLIGHT_HEADERS ?= \(headers ?? "")
            HEADERS := $(if $(SEARCHLIGHT_HEADERS),-I"$(SEARCHLIGHT_HEADERS)",$(shell pkg-config --cflags searchlight-extension))
            """
        var make = makefile(
            names, needs: "$(wildcard *.c *.h)",
            build:
                "\t$(CC) -std=c11 -O2 -g -Wall -Wextra -shared -fPIC $(HEADERS) $(wildcard *.c) -o $(BUNDLE)/\(names.library) -lm"
        )
        make.text = make.text.replacingOccurrences(of: "\n.PHONY", with: flags + "\n\n.PHONY")
        return Project(
            files: [
                File(
                    path: source, text: cSource.replacingOccurrences(of: "IDENTIFIER", with: names.identifier),
                    purpose: "the extension"),
                manifest(names, library: names.library, point: indexPoint), make,
                readme(
                    names,
                    "An extension of Searchlight in C. `searchlight_extension.h` is the whole contract; nothing is linked. The"
                        + "\nMakefile says where it is; elsewhere: `make SEARCHLIGHT_HEADERS=…/Sources/SearchlightExtension/include`."
                ),
            ],
            steps: ["make", "make validate", "make install && searchlight reindex \(names.identifier)"])
    }

    private static let cSource = """
        /* Two recipes that can be found and dragged as plain text. Replace them with what your app has. */
        #include <math.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>

        #include "searchlight_extension.h"

        static const char *const recipes[][3] = {
            {"pancakes", "Pancakes", "flour, milk, eggs"},
            {"rice-pudding", "Rice pudding", "rice, milk, cinnamon"},
        };
        enum { recipe_count = sizeof recipes / sizeof recipes[0] };
        static const char *const text_type = "public.utf8-plain-text";

        /* One for each process; several requests may be under way at once, each on a thread of its own. */
        struct searchlight_extension {
            const searchlight_host *host;
            const searchlight_host_request *requests;
            const searchlight_host_items *items;
            const searchlight_host_index *index;
        };
        static struct searchlight_extension self;

        static int find(const char *identifier) {
            for (int i = 0; i < recipe_count; i++) {
                if (strcmp(identifier, recipes[i][0]) == 0) return i;
            }
            return -1;
        }

        /* Once the donation is durable, or has failed. The context is the number of the request. */
        static void donated(void *context, searchlight_status status, const char *message) {
            self.requests->finish(self.host, (searchlight_request)(uintptr_t)context, status, message);
        }

        static void donate(searchlight_request request, const int *chosen, size_t count) {
            searchlight_item *items[recipe_count] = {NULL};
            for (size_t i = 0; i < count; i++) {
                const char *const *recipe = recipes[chosen[i]];
                items[i] = self.items->create(self.host, recipe[0], "desserts", "public.plain-text");
                self.items->set_string(items[i], "title", recipe[1]);
                self.items->set_string(items[i], "textContent", recipe[2]);
                self.items->set_strings(items[i], "providerDataTypeIdentifiers", &text_type, 1);
                self.items->set_expiration(items[i], INFINITY); /* else it is gone after 30 days */
            }
            void *context = (void *)(uintptr_t)request;
            searchlight_status status = self.index->index_items(self.host, NULL, items, count, donated, context);
            if (status != SEARCHLIGHT_OK) donated(context, status, "the donation was not sent");
            for (size_t i = 0; i < count; i++) self.items->release(items[i]);
        }

        static void reindex_all(searchlight_extension *extension, searchlight_request request) {
            (void)extension;
            /* What is not donated again goes with the acknowledgement; until then all of it is found. */
            self.index->delete_all(self.host, NULL, NULL, NULL);
            int all[recipe_count];
            for (int i = 0; i < recipe_count; i++) all[i] = i;
            donate(request, all, recipe_count);
        }

        /* With delete_items, items that are gone would have to be deleted here; these never go. */
        static void reindex_items(searchlight_extension *extension, searchlight_request request,
                                  const char *const *identifiers, size_t count) {
            (void)extension;
            int chosen[recipe_count];
            size_t found = 0;
            for (int i = 0; i < recipe_count; i++) {
                for (size_t j = 0; j < count; j++) {
                    if (strcmp(identifiers[j], recipes[i][0]) != 0) continue;
                    chosen[found++] = i;
                    break;
                }
            }
            if (found > 0) {
                donate(request, chosen, found);
            } else {
                self.requests->finish(self.host, request, SEARCHLIGHT_OK, NULL);
            }
        }

        static void provide_data(searchlight_extension *extension, searchlight_request request, const char *item,
                                 const char *type) {
            (void)extension;
            int recipe = find(item);
            if (recipe < 0) {
                self.requests->finish(self.host, request, SEARCHLIGHT_NOT_FOUND, "there is no such recipe");
            } else if (strcmp(type, text_type) != 0) {
                self.requests->finish(self.host, request, SEARCHLIGHT_UNSUPPORTED, "recipes are plain text");
            } else {
                self.requests->finish_with_data(self.host, request, recipes[recipe][2], strlen(recipes[recipe][2]));
            }
        }

        static void provide_file(searchlight_extension *extension, searchlight_request request, const char *item,
                                 const char *type, int32_t in_place) {
            (void)extension, (void)item, (void)type, (void)in_place;
            self.requests->finish(self.host, request, SEARCHLIGHT_UNSUPPORTED, "recipes are no files");
        }

        static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *error,
                                         size_t error_capacity) {
            self.host = host;
            self.requests = host->get_interface(host, SEARCHLIGHT_HOST_REQUEST);
            self.items = host->get_interface(host, SEARCHLIGHT_HOST_ITEMS);
            self.index = host->get_interface(host, SEARCHLIGHT_HOST_INDEX);
            if (self.requests == NULL || self.items == NULL || self.index == NULL) {
                snprintf(error, error_capacity, "this host is too old");
                return SEARCHLIGHT_UNSUPPORTED;
            }
            *extension = &self;
            return SEARCHLIGHT_OK;
        }

        static void destroy(searchlight_extension *extension) { (void)extension; }

        static const void *get_interface(searchlight_extension *extension, const char *identifier) {
            static const searchlight_reindex reindex = {sizeof reindex, 0, reindex_all, reindex_items};
            static const searchlight_promises promises = {sizeof promises, 0, provide_data, provide_file};
            (void)extension;
            if (strcmp(identifier, SEARCHLIGHT_REINDEX) == 0) return &reindex;
            if (strcmp(identifier, SEARCHLIGHT_PROMISES) == 0) return &promises;
            return NULL; /* previews: the host shows the attributes */
        }

        /* The one symbol that is looked for. */
        SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {
            static const searchlight_extension_entry entry = {sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR,
                                                              0, "IDENTIFIER", create, destroy, get_interface};
            return &entry;
        }

        """
}
