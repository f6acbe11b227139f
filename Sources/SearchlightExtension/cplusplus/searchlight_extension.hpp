/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchlight_extension.hpp: searchlight_extension.h for C++20.
 *
 * An extension consists of a class with the functions that it needs, and one macro:
 *
 *     class Recipes {
 *     public:
 *         explicit Recipes(searchlight::Host host) : host(host) {}
 *         void reindexAll(searchlight::Request request);
 *         void reindexItems(searchlight::Request request, const searchlight::Texts &identifiers);
 *         void provideData(searchlight::Request request, std::string_view item, std::string_view type);
 *
 *     private:
 *         searchlight::Host host;
 *     };
 *     SEARCHLIGHT_EXTENSION(Recipes, "com.example.recipes")
 *
 * The functions, all of them optional, are members of the class. Each runs on a host thread, and
 * several may run at once:
 *
 *     void reindexAll(Request);   void reindexItems(Request, const Texts &);
 *     void reindexEncryptedItems(Request, const EncryptedItems &);
 *     void reindexPage(Request, const Page &);
 *     void updateFiles(Request, const std::vector<Change> &);
 *     void provideData(Request, std::string_view item, std::string_view type);
 *     void provideFile(Request, std::string_view item, std::string_view type, bool inPlace);
 *     void preview(Request, const PreviewRequest &);
 *     void didThrottle(const Throttle &);   void didFinishThrottle();
 *
 * Rules:
 *
 *     Errors      a function throws searchlight::Error (or another std::exception) to fail its
 *                 request. No exception reaches the host. Functions of this header return a
 *                 Result instead of throwing; the constructor of the extension may throw.
 *     Ownership   Item and Batch release what they own. Request is answered exactly once: by its
 *                 functions, or as a failure when it is destroyed without an answer.
 *     Text        is UTF-8 without NUL characters. It ends at the first NUL.
 *
 * Everything here is inline; nothing is linked. Compile with -std=c++20 or later.
 */
#ifndef SEARCHLIGHT_EXTENSION_HPP
#define SEARCHLIGHT_EXTENSION_HPP

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "searchlight_extension.h"
#include "searchlight/draft/content.h"

namespace searchlight {

/* ---- Outcomes ------------------------------------------------------------------------------ */

enum class Status : searchlight_status {
    ok = SEARCHLIGHT_OK,
    failed = SEARCHLIGHT_FAILED,
    unsupported = SEARCHLIGHT_UNSUPPORTED,
    notFound = SEARCHLIGHT_NOT_FOUND,
    cancelled = SEARCHLIGHT_CANCELLED,
    invalidArgument = SEARCHLIGHT_INVALID_ARGUMENT,
    unavailable = SEARCHLIGHT_UNAVAILABLE,
    tooLarge = SEARCHLIGHT_TOO_LARGE,
    refused = SEARCHLIGHT_REFUSED,
};

/* A status other than ok, and a message that states what was attempted, what failed and how to fix
 * it. */
class Error : public std::exception {
public:
    Error(Status status, std::string message) : code(status), text(std::move(message)) {}
    Status status() const noexcept { return code; }
    const std::string &message() const noexcept { return text; }
    const char *what() const noexcept override { return text.c_str(); }

private:
    Status code;
    std::string text;
};

/* A value or an error, with an interface like std::expected's. */
template <class Value> class [[nodiscard]] Result {
public:
    Result(Value value) : content(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}
    bool has_value() const noexcept { return content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    /* Returns the value, or throws the error. */
    Value &value() & {
        if (auto *error = std::get_if<1>(&content)) throw *error;
        return *std::get_if<0>(&content);
    }
    Value &&value() && { return std::move(static_cast<Result &>(*this).value()); }
    const Value &operator*() const { return std::get<0>(content); }
    const Value *operator->() const { return &std::get<0>(content); }
    const Error &error() const { return std::get<1>(content); }
    Value value_or(Value other) const { return has_value() ? **this : std::move(other); }

private:
    std::variant<Value, Error> content;
};

template <> class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : failure(std::move(error)) {}
    bool has_value() const noexcept { return !failure.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    /* Throws the error if there is one. */
    void value() const {
        if (failure) throw *failure;
    }
    const Error &error() const { return failure.value(); }

private:
    std::optional<Error> failure;
};

using Texts = std::vector<std::string_view>;
using Bytes = std::span<const std::byte>;

inline Bytes bytesOf(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

/* ---- The host ------------------------------------------------------------------------------ */

namespace detail {

inline Result<void> checked(searchlight_status status, const char *what) {
    if (status == SEARCHLIGHT_OK) return {};
    return Error(static_cast<Status>(status), std::string(what) + " failed");
}

inline Error errorOf(searchlight_status status, const char *message) {
    return Error(static_cast<Status>(status), message == nullptr ? "no reason was given" : message);
}

/* Pointers to NUL-terminated copies of texts. */
class TextArray {
public:
    template <class List> explicit TextArray(const List &list) {
        copies.reserve(std::size(list));
        for (const auto &text : list) copies.emplace_back(text);
        for (const auto &text : copies) pointers.push_back(text.c_str());
    }
    const char *const *data() const { return pointers.data(); }
    std::size_t size() const { return pointers.size(); }

private:
    std::vector<std::string> copies;
    std::vector<const char *> pointers;
};

class OptionalText {
public:
    explicit OptionalText(std::optional<std::string_view> text) {
        if (text) copy.emplace(*text);
    }
    const char *get() const { return copy ? copy->c_str() : nullptr; }

private:
    std::optional<std::string> copy;
};

} // namespace detail

/* The host of this extension. Copies are cheap, and remain valid until the extension is destroyed.
 * All functions may be called from any thread. */
class Host {
public:
    explicit Host(const searchlight_host *host) : raw(host) {}

    std::string_view bundleIdentifier() const { return raw->bundle_identifier; }
    std::string_view bundlePath() const { return raw->bundle_path; }

    /* Logs a message for the maintainer of the extension. */
    void log(std::string_view message, int32_t level = SEARCHLIGHT_LOG_INFO) const {
        if (auto *log = interface<searchlight_host_log>(SEARCHLIGHT_HOST_LOG)) log->log(raw, level, std::string(message).c_str());
    }
    /* Reports content that is not indexed. Use the same reason for all content of a kind. */
    void reportLeftOut(std::string_view name, std::string_view reason) const {
        if (auto *report = interface<searchlight_host_left_out>(SEARCHLIGHT_HOST_LEFT_OUT))
            report->report(raw, std::string(name).c_str(), std::string(reason).c_str());
    }

    /* Sets the class of a named index for all later donations of this worker. The first one makes the
     * index encrypted. If the host cannot encrypt, the error is Status::unsupported; do not donate
     * items then that must be encrypted. `protectionClass`: SEARCHLIGHT_CLASS_... */
    Result<void> setClass(std::string_view index, searchlight_protection_class protectionClass) const {
        auto *protection = interface<searchlight_host_protection>(SEARCHLIGHT_HOST_PROTECTION);
        if (protection == nullptr) return Error(Status::unsupported, "the host cannot encrypt an index");
        return detail::checked(protection->set_class(raw, std::string(index).c_str(), protectionClass),
                               "setting the class of an index");
    }

    /* Lists identifiers of the extension's own items, sorted by their bytes, after everything that
     * was sent before is durable. A page shorter than `limit` is the last one. This function waits;
     * do not call it on the thread that runs completions. */
    Result<std::vector<std::string>> listItems(std::optional<std::string_view> after = {},
                                               uint32_t limit = SEARCHLIGHT_LISTING_MAX,
                                               std::optional<std::string_view> index = {}) const {
        using Answer = Result<std::vector<std::string>>;
        auto *listing = interface<searchlight_host_listing>(SEARCHLIGHT_HOST_LISTING);
        if (listing == nullptr) return Error(Status::unsupported, "the host cannot list items");
        std::promise<Answer> promise;
        auto take = [](void *context, searchlight_status status, const char *message, const char *const *identifiers,
                       std::size_t count) noexcept {
            auto &promise = *static_cast<std::promise<Answer> *>(context);
            if (status != SEARCHLIGHT_OK) promise.set_value(detail::errorOf(status, message));
            else promise.set_value(std::vector<std::string>(identifiers, identifiers + count));
        };
        searchlight_status status = listing->list_items(raw, detail::OptionalText(index).get(),
                                                        detail::OptionalText(after).get(), limit, take, &promise);
        if (status != SEARCHLIGHT_OK) return detail::errorOf(status, "the listing was not requested");
        return promise.get_future().get();
    }
    /* Reads the client state of the last durable batch of an index; none if there is no state.
     * Waits, like listItems. */
    Result<std::optional<std::string>> readClientState(std::optional<std::string_view> index = {}) const {
        using Answer = Result<std::optional<std::string>>;
        auto *batch = interface<searchlight_host_batch>(SEARCHLIGHT_HOST_BATCH);
        if (batch == nullptr) return Error(Status::unsupported, "the host has no batches");
        std::promise<Answer> promise;
        auto take = [](void *context, searchlight_status status, const char *message, const void *state,
                       std::size_t length) noexcept {
            auto &promise = *static_cast<std::promise<Answer> *>(context);
            std::optional<std::string> copy;
            if (state != nullptr) copy.emplace(static_cast<const char *>(state), length);
            if (status != SEARCHLIGHT_OK) promise.set_value(detail::errorOf(status, message));
            else promise.set_value(std::move(copy));
        };
        searchlight_status status = batch->read_state(raw, detail::OptionalText(index).get(), take, &promise);
        if (status != SEARCHLIGHT_OK) return detail::errorOf(status, "the client state was not requested");
        return promise.get_future().get();
    }

    /* Returns an interface of the C header, or nullptr if the host lacks it. */
    template <class Interface> const Interface *interface(const char *identifier) const {
        return static_cast<const Interface *>(raw->get_interface(raw, identifier));
    }
    const searchlight_host *get() const { return raw; }

private:
    const searchlight_host *raw;
};

/* ---- Items and batches --------------------------------------------------------------------- */

using Date = std::chrono::system_clock::time_point;

inline double secondsSince1970(Date date) { return std::chrono::duration<double>(date.time_since_epoch()).count(); }

/* An item to donate. Use it on one thread at a time. Setters do not ignore errors: each returns its
 * status. */
class Item {
public:
    Item(Host host, std::string_view identifier, std::optional<std::string_view> domain = {},
         std::optional<std::string_view> contentType = {})
        : items(host.interface<searchlight_host_items>(SEARCHLIGHT_HOST_ITEMS)),
          raw(items->create(host.get(), std::string(identifier).c_str(), detail::OptionalText(domain).get(),
                            detail::OptionalText(contentType).get())),
          keys(host.interface<searchlight_host_custom_keys>(SEARCHLIGHT_HOST_CUSTOM_KEYS)) {}
    Item(Item &&other) noexcept : items(other.items), raw(std::exchange(other.raw, nullptr)), keys(other.keys) {}
    Item &operator=(Item &&other) noexcept {
        std::swap(items, other.items), std::swap(raw, other.raw), std::swap(keys, other.keys);
        return *this;
    }
    ~Item() {
        if (raw != nullptr) items->release(raw);
    }

    Result<void> set(const char *name, std::string_view value) {
        return detail::checked(items->set_string(raw, name, std::string(value).c_str()), name);
    }
    Result<void> set(const char *name, const char *value) { return set(name, std::string_view(value)); }
    Result<void> set(const char *name, const std::string &value) { return set(name, std::string_view(value)); }
    Result<void> set(const char *name, const Texts &values) {
        detail::TextArray texts(values);
        return detail::checked(items->set_strings(raw, name, texts.data(), texts.size()), name);
    }
    Result<void> set(const char *name, bool value) { return detail::checked(items->set_boolean(raw, name, value), name); }
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    Result<void> set(const char *name, Number value) {
        return detail::checked(items->set_integer(raw, name, static_cast<int64_t>(value)), name);
    }
    template <std::floating_point Number> Result<void> set(const char *name, Number value) {
        return detail::checked(items->set_number(raw, name, value), name);
    }
    Result<void> set(const char *name, Date value) {
        return detail::checked(items->set_date(raw, name, secondsSince1970(value)), name);
    }
    Result<void> set(const char *name, Bytes value) {
        return detail::checked(items->set_data(raw, name, value.data(), value.size()), name);
    }
    /* Sets the SEARCHLIGHT_KEY_... traits of a custom attribute. */
    Result<void> setTraits(const char *name, uint32_t traits) {
        if (keys == nullptr) return Error(Status::unsupported, "the host has no traits of attributes");
        return detail::checked(keys->set_traits(raw, name, traits), name);
    }
    /* By default, an item expires one month after its donation. */
    Result<void> expire(Date date) { return detail::checked(items->set_expiration(raw, secondsSince1970(date)), "expire"); }
    Result<void> neverExpire() {
        return detail::checked(items->set_expiration(raw, std::numeric_limits<double>::infinity()), "neverExpire");
    }
    searchlight_item *get() const { return raw; }

private:
    const searchlight_host_items *items;
    searchlight_item *raw;
    const searchlight_host_custom_keys *keys;
};

/* The client state that a batch expects, and the client state that it stores. */
struct ClientState {
    std::optional<std::string_view> index = {}; /* the name of an index; none for the default index */
    Bytes state = {};
    int32_t expectation = SEARCHLIGHT_EXPECT_ANY;
    Bytes expected = {};
};

/* Changes that become durable together, or not at all. Use it on one thread at a time. */
class Batch {
public:
    explicit Batch(Host host)
        : host(host), batch(host.interface<searchlight_host_batch>(SEARCHLIGHT_HOST_BATCH)), raw(batch->create(host.get())) {}
    Batch(Batch &&other) noexcept : host(other.host), batch(other.batch), raw(std::exchange(other.raw, nullptr)) {}
    Batch &operator=(Batch &&other) noexcept {
        std::swap(host, other.host), std::swap(batch, other.batch), std::swap(raw, other.raw);
        return *this;
    }
    ~Batch() {
        if (raw != nullptr) batch->release(raw);
    }

    /* Each function returns Status::tooLarge and changes nothing if the batch would exceed 32 MiB. */
    Result<void> add(const Item &item) {
        searchlight_item *one = item.get();
        return detail::checked(batch->index_items(raw, &one, 1), "adding an item");
    }
    Result<void> remove(std::string_view identifier) { return remove(Texts{identifier}); }
    Result<void> remove(const Texts &identifiers) {
        detail::TextArray texts(identifiers);
        return detail::checked(batch->delete_items(raw, texts.data(), texts.size()), "removing items");
    }
    /* Removes each domain with its subdomains. */
    Result<void> removeDomains(const Texts &domains) {
        detail::TextArray texts(domains);
        return detail::checked(batch->delete_domains(raw, texts.data(), texts.size()), "removing domains");
    }
    /* During a reindex, items that are not donated again are removed when the reindex is
     * acknowledged. */
    Result<void> removeAll() { return detail::checked(batch->delete_all(raw), "removing everything"); }
    Result<void> rename(const Texts &identifiers, const Texts &newIdentifiers) {
        auto *renaming = host.interface<searchlight_host_rename>(SEARCHLIGHT_HOST_RENAME);
        if (renaming == nullptr) return Error(Status::unsupported, "the host cannot rename items");
        if (identifiers.size() != newIdentifiers.size())
            return Error(Status::invalidArgument, "each identifier needs a new one");
        detail::TextArray from(identifiers), to(newIdentifiers);
        return detail::checked(renaming->rename_in_batch(raw, from.data(), to.data(), from.size()), "renaming items");
    }

    /* Sends the batch. Calls `completion` once with a Result<void>, either on a host thread or, if
     * the batch was not sent, before the function returns. `completion` may be move-only. */
    template <class Completion> void commit(Completion completion, const ClientState &state = {}) const {
        auto box = std::make_unique<Completion>(std::move(completion));
        auto call = [](void *context, searchlight_status status, const char *message) noexcept {
            std::unique_ptr<Completion> box(static_cast<Completion *>(context));
            try {
                if (status == SEARCHLIGHT_OK) (*box)(Result<void>());
                else (*box)(Result<void>(detail::errorOf(status, message)));
            } catch (...) {
                /* Nobody is waiting for this exception, and no exception may reach the host. */
            }
        };
        searchlight_status status = batch->commit(
            host.get(), detail::OptionalText(state.index).get(), raw, state.state.data(), state.state.size(),
            state.expectation, state.expected.data(), state.expected.size(), call, box.get());
        if (status == SEARCHLIGHT_OK) box.release();
        else call(box.release(), status, "the batch was not sent");
    }
    /* Sends the batch and waits until it is durable. Do not call it on the thread that runs
     * completions. */
    Result<void> commitAndWait(const ClientState &state = {}) const {
        std::promise<Result<void>> promise;
        auto result = promise.get_future();
        commit([&promise](Result<void> result) { promise.set_value(std::move(result)); }, state);
        return result.get();
    }

private:
    Host host;
    const searchlight_host_batch *batch;
    searchlight_batch *raw;
};

/* ---- Requests ------------------------------------------------------------------------------ */

/* A part of a preview, referenced in its HTML as "cid:identifier". */
struct Attachment {
    std::string identifier, contentType;
    std::string bytes;
};

struct Preview {
    std::string contentType = "public.html";
    std::string bytes;
    std::optional<std::string> title = {};
    double width = 0, height = 0;
    std::vector<Attachment> attachments = {};
};

/* A stream that answers a data promise. It ends with the object; if bytes are missing then, the receiver gets an
 * error. */
class Stream {
public:
    Stream(const searchlight_host_content *content, searchlight_stream *raw) : content(content), raw(raw) {}
    Stream(Stream &&other) noexcept : content(other.content), raw(std::exchange(other.raw, nullptr)) {}
    Stream &operator=(Stream &&other) noexcept {
        std::swap(content, other.content), std::swap(raw, other.raw);
        return *this;
    }
    ~Stream() { content->end(raw); }

    /* Writes the next bytes. The status is cancelled if the receiver has gone. */
    Result<void> write(Bytes bytes) {
        return detail::checked(content->write(raw, bytes.data(), bytes.size()), "writing to a stream");
    }

private:
    const searchlight_host_content *content;
    searchlight_stream *raw;
};

/* A request from the host. It can be moved, and can be answered from any thread. */
class Request {
public:
    Request(Host host, searchlight_request number)
        : host(host), requests(host.interface<searchlight_host_request>(SEARCHLIGHT_HOST_REQUEST)), number(number),
          unwinding(std::uncaught_exceptions()) {}
    Request(Request &&other) noexcept
        : host(other.host), requests(other.requests), number(other.number), unwinding(other.unwinding),
          isOpen(std::exchange(other.isOpen, false)) {}
    Request &operator=(Request &&other) noexcept {
        std::swap(host, other.host), std::swap(requests, other.requests), std::swap(number, other.number);
        std::swap(isOpen, other.isOpen), std::swap(unwinding, other.unwinding);
        return *this;
    }
    /* While an exception is propagating, the request stays open: the exception becomes its
     * answer. */
    ~Request() {
        if (isOpen && std::uncaught_exceptions() <= unwinding)
            fail(Error(Status::failed, "the extension dropped the request without an answer"));
    }

    /* Acknowledges a reindex, once its last donation is durable. */
    void acknowledge() {
        if (close()) requests->finish(host.get(), number, SEARCHLIGHT_OK, nullptr);
    }
    void fail(const Error &error) {
        if (close()) requests->finish(host.get(), number, static_cast<searchlight_status>(error.status()), error.what());
    }
    /* Acknowledges a reindex, or fails it with the error of its last donation. */
    void finish(const Result<void> &result) { result ? acknowledge() : fail(result.error()); }
    /* Ends a page, once its last donation is durable. Without a cursor, it is the last page. */
    void finishPage(std::optional<Bytes> next) {
        if (close()) requests->finish_page(host.get(), number, next ? next->data() : nullptr, next ? next->size() : 0);
    }
    void answer(Bytes data) {
        if (close()) requests->finish_with_data(host.get(), number, data.data(), data.size());
    }
    void answer(std::string_view text) { answer(bytesOf(text)); }
    /* Answers with a file. `removeAfter`: the file was created for this request. */
    void answerWithFile(std::string_view path, bool removeAfter) {
        if (close()) requests->finish_with_file(host.get(), number, std::string(path).c_str(), removeAfter);
    }
    /* Answers with an open file, which may be closed afterwards. `name`: the proposed one, or empty. */
    void answerWithDescriptor(int descriptor, const std::string &name = {}) {
        auto *content = host.interface<searchlight_host_content>(SEARCHLIGHT_HOST_CONTENT);
        if (content == nullptr) return fail(Error(Status::unsupported, "this host takes no descriptors"));
        if (close()) content->finish_with_descriptor(host.get(), number, descriptor, name.empty() ? nullptr : name.c_str());
    }
    /* Answers with a stream of a known length, which is then written. If it fails, the request is still open. */
    Result<Stream> answerWithStream(uint64_t length) {
        auto *content = host.interface<searchlight_host_content>(SEARCHLIGHT_HOST_CONTENT);
        if (content == nullptr) return Error(Status::unsupported, "this host has no streams");
        if (!isOpen) return Error(Status::invalidArgument, "the request is already answered");
        auto *raw = content->finish_with_stream(host.get(), number, length);
        if (raw == nullptr) return Error(Status::unavailable, "there are too many streams or descriptors; end a stream first");
        close();
        return Stream(content, raw);
    }
    void answer(const Preview &preview) {
        std::vector<searchlight_attachment> parts;
        std::vector<const searchlight_attachment *> pointers;
        parts.reserve(preview.attachments.size());
        for (const auto &part : preview.attachments) {
            parts.push_back({sizeof(searchlight_attachment), 0, part.identifier.c_str(), part.contentType.c_str(),
                             part.bytes.data(), part.bytes.size()});
            pointers.push_back(&parts.back());
        }
        searchlight_preview_reply reply = {sizeof reply,
                                           static_cast<uint32_t>(parts.size()),
                                           preview.contentType.c_str(),
                                           preview.title ? preview.title->c_str() : nullptr,
                                           preview.bytes.data(),
                                           preview.bytes.size(),
                                           preview.width,
                                           preview.height,
                                           pointers.empty() ? nullptr : pointers.data()};
        if (close()) requests->finish_with_preview(host.get(), number, &reply);
    }

    /* True once the host is no longer waiting for the answer. Long-running work should check this
     * repeatedly. */
    bool isCancelled() const {
        auto *cancel = host.interface<searchlight_host_cancel>(SEARCHLIGHT_HOST_CANCEL);
        return cancel != nullptr && cancel->is_cancelled(host.get(), number) != 0;
    }
    /* Reports `completed` of `total` units; a total of 0 means unknown. A report counts as a sign
     * of life. */
    void reportProgress(uint64_t completed, uint64_t total = 0) const {
        if (auto *progress = host.interface<searchlight_host_progress>(SEARCHLIGHT_HOST_PROGRESS))
            progress->report(host.get(), number, completed, total);
    }

private:
    bool close() { return std::exchange(isOpen, false); }

    Host host;
    const searchlight_host_request *requests;
    searchlight_request number;
    int unwinding;
    bool isOpen = true;
};

/* The limits of a page, and the cursor at which it starts; none for the first page. */
struct Page {
    std::optional<Bytes> cursor;
    uint64_t memoryLimit;
    uint32_t items;
    std::chrono::milliseconds time;
};

/* A change of a file. Read the file's current state, because it may have changed again since. */
struct Change {
    int32_t kind; /* SEARCHLIGHT_CHANGED, SEARCHLIGHT_MOVED or SEARCHLIGHT_REMOVED */
    std::string_view path;
    std::optional<std::string_view> previousPath;
};

/* Items to donate again to an encrypted index, or to delete there. */
struct EncryptedItems {
    std::string_view index;
    searchlight_protection_class protectionClass; /* SEARCHLIGHT_CLASS_... */
    Texts identifiers;
};

struct PreviewRequest {
    std::string_view item;
    std::optional<std::string_view> query, contentPath;
};

struct Throttle {
    int32_t reason; /* SEARCHLIGHT_THROTTLE_... */
    double itemsPerSecond;
};

/* ---- The entry point ------------------------------------------------------------------------ */

namespace detail {

template <class Extension> struct Entry {
    struct Instance {
        Host host;
        Extension extension;
    };
    static Instance &instance(searchlight_extension *raw) { return *reinterpret_cast<Instance *>(raw); }

    static std::optional<std::string_view> optional(const char *text) {
        if (text == nullptr) return std::nullopt;
        return std::string_view(text);
    }
    static Texts texts(const char *const *list, std::size_t count) { return Texts(list, list + count); }

    /* Runs a function of the extension. An exception becomes the answer of the request. */
    template <class Body> static void answer(searchlight_extension *raw, searchlight_request number, Body body) noexcept {
        Instance &self = instance(raw);
        auto *requests = self.host.template interface<searchlight_host_request>(SEARCHLIGHT_HOST_REQUEST);
        const searchlight_host *host = self.host.get();
        try {
            body(self.extension, Request(self.host, number));
        } catch (const Error &error) {
            requests->finish(host, number, static_cast<searchlight_status>(error.status()), error.what());
        } catch (const std::bad_alloc &) {
            requests->finish(host, number, SEARCHLIGHT_FAILED, "out of memory");
        } catch (const std::exception &error) {
            requests->finish(host, number, SEARCHLIGHT_FAILED, error.what());
        } catch (...) {
            requests->finish(host, number, SEARCHLIGHT_FAILED, "the extension threw an object that is no exception");
        }
    }

    static void reindexAll(searchlight_extension *raw, searchlight_request number) noexcept {
        answer(raw, number, [](auto &extension, Request request) { extension.reindexAll(std::move(request)); });
    }
    static void reindexItems(searchlight_extension *raw, searchlight_request number, const char *const *identifiers,
                             std::size_t count) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            extension.reindexItems(std::move(request), texts(identifiers, count));
        });
    }
    static void reindexEncryptedItems(searchlight_extension *raw, searchlight_request number, const char *index,
                                      searchlight_protection_class protectionClass, const char *const *identifiers,
                                      std::size_t count) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            const EncryptedItems items{index, protectionClass, texts(identifiers, count)};
            extension.reindexEncryptedItems(std::move(request), items);
        });
    }
    static void reindexPage(searchlight_extension *raw, searchlight_request number, const searchlight_page *page) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            std::optional<Bytes> cursor;
            if (page->cursor != nullptr) cursor = Bytes(static_cast<const std::byte *>(page->cursor), page->cursor_length);
            extension.reindexPage(std::move(request), Page{cursor, page->memory_limit, page->items,
                                                           std::chrono::milliseconds(page->milliseconds)});
        });
    }
    static void updateFiles(searchlight_extension *raw, searchlight_request number,
                            const searchlight_change *const *changes, std::size_t count) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            std::vector<Change> list;
            list.reserve(count);
            for (std::size_t place = 0; place < count; place++)
                list.push_back({changes[place]->kind, changes[place]->path, optional(changes[place]->previous_path)});
            extension.updateFiles(std::move(request), list);
        });
    }
    static void provideData(searchlight_extension *raw, searchlight_request number, const char *item,
                            const char *type) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            if constexpr (requires { extension.provideData(std::move(request), std::string_view(), std::string_view()); })
                extension.provideData(std::move(request), item, type);
            else
                throw Error(Status::unsupported, "this extension provides no data");
        });
    }
    static void provideFile(searchlight_extension *raw, searchlight_request number, const char *item, const char *type,
                            int32_t inPlace) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            if constexpr (requires { extension.provideFile(std::move(request), std::string_view(), std::string_view(), true); })
                extension.provideFile(std::move(request), item, type, inPlace != 0);
            else
                throw Error(Status::unsupported, "this extension provides no files");
        });
    }
    static void preview(searchlight_extension *raw, searchlight_request number, const char *item, const char *query,
                        const char *contentPath) noexcept {
        answer(raw, number, [&](auto &extension, Request request) {
            extension.preview(std::move(request), PreviewRequest{item, optional(query), optional(contentPath)});
        });
    }
    static void didThrottle(searchlight_extension *raw, const searchlight_throttle_notice *notice) noexcept {
        try {
            instance(raw).extension.didThrottle(Throttle{notice->reason, notice->items_per_second});
        } catch (...) {
            /* A notice has no answer. */
        }
    }
    static void didFinishThrottle(searchlight_extension *raw) noexcept {
        try {
            if constexpr (requires(Extension &extension) { extension.didFinishThrottle(); })
                instance(raw).extension.didFinishThrottle();
        } catch (...) {
            /* A notice has no answer. */
        }
    }

    static searchlight_status create(const searchlight_host *host, searchlight_extension **extension, char *message,
                                     std::size_t capacity) noexcept {
        searchlight_status status = SEARCHLIGHT_FAILED;
        const char *reason = "the constructor of the extension failed";
        try {
            Host wrapped(host);
            for (const char *needed : {SEARCHLIGHT_HOST_REQUEST, SEARCHLIGHT_HOST_ITEMS, SEARCHLIGHT_HOST_BATCH})
                if (host->get_interface(host, needed) == nullptr) {
                    std::snprintf(message, capacity, "this host lacks %s", needed);
                    return SEARCHLIGHT_UNSUPPORTED;
                }
            *extension = reinterpret_cast<searchlight_extension *>(new Instance{wrapped, Extension(wrapped)});
            return SEARCHLIGHT_OK;
        } catch (const Error &error) {
            status = static_cast<searchlight_status>(error.status());
            std::snprintf(message, capacity, "%s", error.what());
            return status;
        } catch (const std::exception &error) {
            std::snprintf(message, capacity, "%s", error.what());
            return status;
        } catch (...) {
            std::snprintf(message, capacity, "%s", reason);
            return status;
        }
    }
    static void destroy(searchlight_extension *raw) noexcept { delete reinterpret_cast<Instance *>(raw); }

    static const void *getInterface(searchlight_extension *, const char *identifier) noexcept {
        const std::string_view name = identifier;
        if constexpr (requires(Extension &extension, Request request) { extension.reindexAll(std::move(request)); }) {
            static const searchlight_extension_reindex table = {sizeof table, 0, reindexAll, reindexItems};
            if (name == SEARCHLIGHT_EXTENSION_REINDEX) return &table;
        }
        if constexpr (requires(Extension &extension, Request request, const EncryptedItems &items) {
                          extension.reindexEncryptedItems(std::move(request), items);
                      }) {
            static const searchlight_extension_encrypted_items table = {sizeof table, 0, reindexEncryptedItems};
            if (name == SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS) return &table;
        }
        if constexpr (requires(Extension &extension, Request request, Page page) {
                          extension.reindexPage(std::move(request), page);
                      }) {
            static const searchlight_extension_paging table = {sizeof table, 0, reindexPage};
            if (name == SEARCHLIGHT_EXTENSION_PAGING) return &table;
        }
        if constexpr (requires(Extension &extension, Request request, std::vector<Change> changes) {
                          extension.updateFiles(std::move(request), changes);
                      }) {
            static const searchlight_extension_changes table = {sizeof table, 0, updateFiles};
            if (name == SEARCHLIGHT_EXTENSION_CHANGES) return &table;
        }
        if constexpr (requires(Extension &extension, Request request, std::string_view text) {
                          extension.provideData(std::move(request), text, text);
                      } || requires(Extension &extension, Request request, std::string_view text) {
                          extension.provideFile(std::move(request), text, text, true);
                      }) {
            static const searchlight_extension_promises table = {sizeof table, 0, provideData, provideFile};
            if (name == SEARCHLIGHT_EXTENSION_PROMISES) return &table;
        }
        if constexpr (requires(Extension &extension, Request request, PreviewRequest wanted) {
                          extension.preview(std::move(request), wanted);
                      }) {
            static const searchlight_extension_preview table = {sizeof table, 0, preview};
            if (name == SEARCHLIGHT_EXTENSION_PREVIEW) return &table;
        }
        if constexpr (requires(Extension &extension, Throttle notice) { extension.didThrottle(notice); }) {
            static const searchlight_extension_throttle table = {sizeof table, 0, didThrottle, didFinishThrottle};
            if (name == SEARCHLIGHT_EXTENSION_THROTTLE) return &table;
        }
        return nullptr;
    }
};

} // namespace detail
} // namespace searchlight

/* Defines the entry point of the library. `identifier` is the CFBundleIdentifier of the manifest. */
#define SEARCHLIGHT_EXTENSION(Extension, identifier)                                                              \
    extern "C" SEARCHLIGHT_EXPORT const searchlight_extension_entry *searchlight_extension_entry_point(void) {    \
        using Entry = searchlight::detail::Entry<Extension>;                                                      \
        static const searchlight_extension_entry entry = {                                                        \
            sizeof entry, SEARCHLIGHT_ABI_MAJOR, SEARCHLIGHT_ABI_MINOR, 0, identifier,                            \
            Entry::create, Entry::destroy, Entry::getInterface};                                                  \
        return &entry;                                                                                            \
    }

#endif /* SEARCHLIGHT_EXTENSION_HPP */
