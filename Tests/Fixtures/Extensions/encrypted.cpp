/* SPDX-License-Identifier: Apache-2.0 */
/* With the kit for C++: donates requested items of encrypted indexes with a title that names their
 * index and its class. */
#include <string>
#include <utility>

#include "searchlight_extension.hpp"

using namespace searchlight;

namespace {

class Encrypted {
public:
    explicit Encrypted(Host host) : host(host) {}

    void reindexEncryptedItems(Request request, const EncryptedItems &items) {
        Batch batch(host);
        for (auto identifier : items.identifiers) {
            Item item(host, identifier, {}, "public.plain-text");
            item.set("title", "C++ " + std::string(items.index) + " " + std::to_string(items.protectionClass)).value();
            batch.add(item).value();
        }
        ClientState place;
        place.index = items.index;
        batch.commit([request = std::move(request)](Result<void> result) mutable { request.finish(result); }, place);
    }

private:
    Host host;
};

} // namespace

SEARCHLIGHT_EXTENSION(Encrypted, "com.example.everything")
