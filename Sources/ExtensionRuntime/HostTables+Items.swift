// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import SystemSupport

// The functions of `searchlight.items/1`.

/// An item that an extension builds through the C interface. Used by one thread at a time.
final class ItemBuilder {
    var record: ItemRecord
    let session: HostSession?

    init(_ record: ItemRecord, session: HostSession?) {
        self.record = record
        self.session = session
    }

    /// All items that extensions have not released yet.
    static let all = HandleTable<ItemBuilder>(tag: 0x5A)
}

/// Calls a closure with the object of an extension's handle. An invalid handle is reported and
/// results in `SEARCHLIGHT_INVALID_ARGUMENT`.
func use<Object>(
    _ table: HandleTable<Object>, _ handle: OpaquePointer?, _ what: String, _ body: (Object) -> Int32
) -> Int32 {
    do throws(HandleTable<Object>.Problem) {
        return try table.with(handle, body)
    } catch {
        report(error, what)
        return SEARCHLIGHT_INVALID_ARGUMENT
    }
}

/// Releases the object of an extension's handle. NULL is allowed.
func release<Object>(_ table: HandleTable<Object>, _ handle: OpaquePointer?, _ what: String) {
    guard handle != nil else { return }
    do throws(HandleTable<Object>.Problem) { try table.remove(handle) } catch { report(error, what) }
}

/// Stores an object of a session's extension in a table.
func keep<Object>(_ table: HandleTable<Object>, _ object: Object, _ session: HostSession?) -> OpaquePointer? {
    // Sessions live as long as the process (``HostTables``), so storing their address is
    // sufficient.
    table.insert(object, owner: session.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0)
}

private func report<Object>(_ problem: HandleTable<Object>.Problem, _ what: String) {
    switch problem {
    case .unknown:
        latestSession.withLock { $0 }?.misuse(
            .invalidArgument, "A pointer was passed as a \(what) and is not a \(what).")
    case .released(let owner):
        session(owner)?.misuse(.usedAfterRelease, "A \(what) was used after it was released.")
    case .inUse(let owner):
        session(owner)?.misuse(
            .wrongThread, "A \(what) was used by two threads at once; each belongs to one thread at a time.")
    }
}

private func session(_ owner: UInt) -> HostSession? {
    UnsafeRawPointer(bitPattern: owner).map { Unmanaged<HostSession>.fromOpaque($0).takeUnretainedValue() }
}

private typealias Name = UnsafePointer<CChar>

/// The seconds between 1970-01-01 (Unix) and 2001-01-01 (item records).
private let referenceDateOffset = 978_307_200.0

private func set(
    _ item: OpaquePointer?, _ name: Name?, _ value: (ItemBuilder) -> AttributeValue?
) -> Int32 {
    use(ItemBuilder.all, item, "searchlight_item") { builder in
        guard let name = requiredText(name, "The name of an attribute", builder.session), let value = value(builder)
        else { return SEARCHLIGHT_INVALID_ARGUMENT }
        builder.record.attributes[name] = value
        return SEARCHLIGHT_OK
    }
}

let itemsTable = StaticTable(
    searchlight_host_items(
        size: UInt32(MemoryLayout<searchlight_host_items>.size), reserved: 0,
        create: { host, identifier, domain, contentType in
            let session = session(host)
            guard let identifier = requiredText(identifier, "The identifier of an item", session),
                let domain = optionalText(domain, "The domain of an item", session),
                let contentType = optionalText(contentType, "The content type of an item", session)
            else { return nil }
            guard !identifier.isEmpty else {
                session?.misuse(.invalidArgument, "The identifier of an item is empty.")
                return nil
            }
            var record = ItemRecord(uniqueIdentifier: identifier, domainIdentifier: domain)
            if let contentType { record.attributes["contentType"] = .string(contentType) }
            guard let handle = keep(ItemBuilder.all, ItemBuilder(record, session: session), session) else {
                session?.misuse(
                    .invalidArgument,
                    "There are \(HandleTable<ItemBuilder>.maximum) items that were not released. Release each item after "
                        + "its donation.")
                return nil
            }
            return handle
        },
        set_string: { item, name, value in
            set(item, name) { requiredText(value, "The value of an attribute", $0.session).map { .string($0) } }
        },
        set_strings: { item, name, values, count in
            set(item, name) {
                texts(values, count, "The value of an attribute", $0.session).map { .array($0.map { .string($0) }) }
            }
        },
        set_integer: { item, name, value in set(item, name) { _ in .integer(value) } },
        set_number: { item, name, value in set(item, name) { _ in .double(value) } },
        set_boolean: { item, name, value in set(item, name) { _ in .boolean(value != 0) } },
        set_date: { item, name, seconds in set(item, name) { _ in .date(seconds - referenceDateOffset) } },
        set_data: { item, name, pointer, length in
            set(item, name) { bytes(pointer, length, "The value of an attribute", $0.session).map { .data($0) } }
        },
        set_expiration: { item, seconds in
            use(ItemBuilder.all, item, "searchlight_item") { builder in
                guard !seconds.isNaN else { return SEARCHLIGHT_INVALID_ARGUMENT }
                builder.record.expiration = seconds == .infinity ? .never : .at(seconds - referenceDateOffset)
                return SEARCHLIGHT_OK
            }
        },
        release: { item in release(ItemBuilder.all, item, "searchlight_item") }))
