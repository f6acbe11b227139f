// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import ItemRecord
import SearchlightExtension

/// A function in the extension, with its context.
///
/// `@unchecked Sendable`: the header requires that the function can be called on any thread with
/// its context. No code here reads the context.
struct BoundaryCallback: @unchecked Sendable {
    let kind: BoundaryFunction.CallbackKind
    let function: UnsafeMutableRawPointer
    let context: UnsafeMutableRawPointer?
    /// The position of the function among the C arguments.
    let position: Int
    /// The number of the call that passed the function, once it is assigned.
    var cause: UInt32 = 0
}

/// Reads the arguments of a C call. It reads no memory that the host would not read.
struct ArgumentReader {
    private let arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let host: UnsafePointer<searchlight_host>?
    private let number: (OpaquePointer) -> UInt32?
    private var position = 0
    /// `false` once the host would read no further arguments.
    private var isReading = true
    private(set) var callback: BoundaryCallback?

    /// The maximum length of a text, in bytes.
    private static let maximumTextBytes = 32 << 20
    /// The maximum number of renames in a call.
    private static let maximumRenames = (1 << 20) / 2

    /// - Parameter number: Returns the number of an object; `nil` if it is unknown.
    init(
        _ call: BoundaryCall, host: UnsafePointer<searchlight_host>?, number: @escaping (OpaquePointer) -> UInt32?
    ) {
        arguments = call.arguments
        self.host = host
        self.number = number
    }

    /// Returns the text of a C argument.
    static func text(_ argument: UnsafeMutableRawPointer?) -> String? {
        ExtensionRuntime.text(argument?.load(as: UnsafePointer<CChar>?.self))
    }

    /// Returns the values of all of a function's parameters.
    mutating func values(_ function: BoundaryFunction) -> [BoundaryValue] {
        function.parameters.map { value($0) }
    }

    /// Reads the next C argument. libffi has stored it with this type.
    private mutating func next<Value>(_ type: Value.Type = Value.self) -> Value? {
        defer { position += 1 }
        return arguments[position]?.load(as: Value.self)
    }

    private mutating func pointer() -> UnsafeRawPointer? { next(UnsafeRawPointer?.self) ?? nil }

    private mutating func value(_ parameter: BoundaryFunction.Parameter) -> BoundaryValue {
        switch parameter {
        case .host:
            guard let pointer = pointer() else { return .null }
            if pointer == UnsafeRawPointer(host) { return .object(nil, 0) }
            isReading = false
            return .unknownPointer
        case .request: return .integer(Int64(bitPattern: next(UInt64.self) ?? 0))
        case .int32: return .integer(Int64(next(Int32.self) ?? 0))
        case .uint32: return .integer(Int64(next(UInt32.self) ?? 0))
        case .int64: return .integer(next(Int64.self) ?? 0)
        case .double: return BoundaryValue(next(Double.self) ?? 0)
        case .object(let kind):
            guard let pointer = pointer() else {
                isReading = false
                return .null
            }
            let value = object(OpaquePointer(pointer), kind)
            if value == .unknownPointer { isReading = false }
            return value
        case .text: return text(pointer(), limit: Self.maximumTextBytes)
        case .message: return text(pointer(), limit: maximumMessageBytes)
        case .texts:
            let (array, count) = (pointer(), next(Int.self) ?? 0)
            return texts(array, count)
        case .textPairs:
            let (old, new, count) = (pointer(), pointer(), next(Int.self) ?? 0)
            guard count <= Self.maximumRenames else {
                return .list([.unread(count: Int64(count), isNull: old == nil), .null])
            }
            return .list([texts(old, count), texts(new, count)])
        case .items:
            let (array, count) = (pointer(), next(Int.self) ?? 0)
            return items(array, count)
        case .bytes(let limit):
            let (bytes, count) = (pointer(), next(Int.self) ?? 0)
            guard isReading, count >= 0, count <= limit, bytes != nil || count == 0 else {
                return .unread(count: Int64(count), isNull: bytes == nil)
            }
            return bytes == nil ? .null : .bytes(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        case .callback(let kind):
            let place = position
            let function = next(UnsafeMutableRawPointer?.self) ?? nil
            let context = next(UnsafeMutableRawPointer?.self) ?? nil
            guard let function else { return .null }
            callback = BoundaryCallback(kind: kind, function: function, context: context, position: place)
            return .present
        case .preview:
            guard let pointer = pointer() else { return .null }
            return preview(pointer.assumingMemoryBound(to: searchlight_preview_reply.self))
        }
    }

    private func object(_ pointer: OpaquePointer, _ kind: BoundaryFunction.ObjectKind) -> BoundaryValue {
        number(pointer).map { .object(kind, $0) } ?? .unknownPointer
    }

    private func text(_ pointer: UnsafeRawPointer?, limit: Int) -> BoundaryValue {
        guard let pointer else { return .null }
        guard isReading else { return .unread(count: 1, isNull: false) }
        let count = strnlen(pointer.assumingMemoryBound(to: CChar.self), limit)
        return .text(Array(UnsafeRawBufferPointer(start: pointer, count: count)))
    }

    /// Reads texts. Like the host, it stops at an element that is NULL or not UTF-8.
    private func texts(_ pointer: UnsafeRawPointer?, _ count: Int) -> BoundaryValue {
        guard isReading, count >= 0, let pointer else {
            return count == 0 ? .list([]) : .unread(count: Int64(count), isNull: pointer == nil)
        }
        let array = pointer.assumingMemoryBound(to: UnsafeRawPointer?.self)
        var values: [BoundaryValue] = []
        for index in 0..<count {
            let value = text(array[index], limit: Self.maximumTextBytes)
            values.append(value)
            guard case .text(let bytes) = value, String(validating: bytes, as: UTF8.self) != nil else { break }
        }
        return .list(values)
    }

    /// Reads items. Like the host, it stops at an element that is not an item.
    private func items(_ pointer: UnsafeRawPointer?, _ count: Int) -> BoundaryValue {
        guard isReading, count >= 0, let pointer else {
            return count == 0 ? .list([]) : .unread(count: Int64(count), isNull: pointer == nil)
        }
        let array = pointer.assumingMemoryBound(to: OpaquePointer?.self)
        var values: [BoundaryValue] = []
        for index in 0..<count {
            let value = array[index].map { object($0, .item) } ?? .null
            values.append(value)
            guard case .object = value else { break }
        }
        return .list(values)
    }

    private func preview(_ pointer: UnsafePointer<searchlight_preview_reply>) -> BoundaryValue {
        guard isReading, Int(pointer.pointee.size) >= MemoryLayout<searchlight_preview_reply>.size else {
            return .unread(count: 1, isNull: false)
        }
        let reply = pointer.pointee
        let count = Int(reply.attachment_count)
        var attachments: [BoundaryValue] = []
        if count <= PreviewHeader.maximumAttachments, let array = reply.attachments {
            for index in 0..<count {
                guard let attachment = array[index]?.pointee,
                    Int(attachment.size) >= MemoryLayout<searchlight_attachment>.size
                else {
                    attachments.append(.null)
                    break
                }
                attachments.append(
                    .list([
                        text(attachment.identifier, limit: Self.maximumTextBytes),
                        text(attachment.content_type, limit: Self.maximumTextBytes),
                        block(attachment.bytes, attachment.length),
                    ]))
            }
        } else if count > 0 {
            return .unread(count: Int64(count), isNull: reply.attachments == nil)
        }
        return .list([
            text(reply.content_type, limit: Self.maximumTextBytes), text(reply.title, limit: Self.maximumTextBytes),
            block(reply.bytes, reply.length), BoundaryValue(reply.width), BoundaryValue(reply.height),
            .list(attachments),
        ])
    }

    private func block(_ pointer: UnsafeRawPointer?, _ count: Int) -> BoundaryValue {
        guard count >= 0, count <= PreviewHeader.maximumBytes, pointer != nil || count == 0 else {
            return .unread(count: Int64(count), isNull: pointer == nil)
        }
        return pointer == nil ? .null : .bytes(Array(UnsafeRawBufferPointer(start: pointer, count: count)))
    }
}
