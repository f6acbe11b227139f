// SPDX-License-Identifier: Apache-2.0
import SearchlightExtension
import ServiceProtocol

// The functions of `searchlight.items/1`.

/// An item that an extension builds through the C interface; one thread at a time.
final class ItemBuilder {
    var record: ItemRecord

    init(_ record: ItemRecord) { self.record = record }

    /// The builder behind a pointer that an extension holds.
    static func borrowed(_ item: OpaquePointer) -> ItemBuilder {
        Unmanaged<ItemBuilder>.fromOpaque(UnsafeRawPointer(item)).takeUnretainedValue()
    }
}

private typealias Item = OpaquePointer
private typealias Name = UnsafePointer<CChar>

/// Seconds between 1970-01-01 (Unix) and 2001-01-01 (item records).
private let referenceDateOffset = 978_307_200.0

private func set(_ item: Item?, _ name: Name?, _ value: AttributeValue?) -> Int32 {
    guard let item, let name = text(name), let value else { return SEARCHLIGHT_INVALID_ARGUMENT }
    ItemBuilder.borrowed(item).record.attributes[name] = value
    return SEARCHLIGHT_OK
}

let itemsTable = StaticTable(
    searchlight_host_items(
        size: UInt32(MemoryLayout<searchlight_host_items>.size), reserved: 0,
        create: { _, identifier, domain, contentType in
            guard let identifier = text(identifier), !identifier.isEmpty else { return nil }
            var record = ItemRecord(uniqueIdentifier: identifier, domainIdentifier: text(domain))
            if let contentType = text(contentType) { record.attributes["contentType"] = .string(contentType) }
            return OpaquePointer(Unmanaged.passRetained(ItemBuilder(record)).toOpaque())
        },
        set_string: { item, name, value in set(item, name, text(value).map { .string($0) }) },
        set_strings: { item, name, values, count in
            guard let values, count >= 0 else { return SEARCHLIGHT_INVALID_ARGUMENT }
            var elements: [AttributeValue] = []
            for index in 0..<count {
                guard let element = text(values[index]) else { return SEARCHLIGHT_INVALID_ARGUMENT }
                elements.append(.string(element))
            }
            return set(item, name, .array(elements))
        },
        set_integer: { item, name, value in set(item, name, .integer(value)) },
        set_number: { item, name, value in set(item, name, .double(value)) },
        set_boolean: { item, name, value in set(item, name, .boolean(value != 0)) },
        set_date: { item, name, seconds in set(item, name, .date(seconds - referenceDateOffset)) },
        set_data: { item, name, bytes, length in
            guard length >= 0, bytes != nil || length == 0 else { return SEARCHLIGHT_INVALID_ARGUMENT }
            return set(item, name, .data(Array(UnsafeRawBufferPointer(start: bytes, count: length))))
        },
        set_expiration: { item, seconds in
            guard let item, !seconds.isNaN else { return SEARCHLIGHT_INVALID_ARGUMENT }
            ItemBuilder.borrowed(item).record.expiration =
                seconds == .infinity ? .never : .at(seconds - referenceDateOffset)
            return SEARCHLIGHT_OK
        },
        release: { item in
            guard let item else { return }
            Unmanaged<ItemBuilder>.fromOpaque(UnsafeRawPointer(item)).release()
        }))
