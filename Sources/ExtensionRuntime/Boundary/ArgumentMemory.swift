// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import SearchlightExtension

/// The memory of the arguments of one call in C, for recorded values. It is freed with the object.
final class ArgumentMemory {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit { blocks.forEach { free($0) } }

    typealias TextArray = UnsafePointer<UnsafePointer<CChar>?>

    private func block(_ count: Int) -> UnsafeMutableRawPointer? {
        guard let block = calloc(1, max(count, 8)) else { return nil }
        blocks.append(block)
        return block
    }

    private func copy(_ bytes: [UInt8], extra: Int = 0) -> UnsafeMutableRawPointer? {
        guard let block = block(bytes.count + extra) else { return nil }
        bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { memcpy(block, start, source.count) }
        }
        return block
    }

    /// Returns a C string; an empty one for a text that the host did not read.
    func text(_ value: BoundaryValue) -> UnsafePointer<CChar>? {
        switch value {
        case .text(let bytes): UnsafePointer(copy(bytes, extra: 1)?.assumingMemoryBound(to: CChar.self))
        case .unread(_, false): UnsafePointer(copy([], extra: 1)?.assumingMemoryBound(to: CChar.self))
        default: nil
        }
    }

    func texts(_ value: BoundaryValue) -> (TextArray?, Int) {
        guard case .list(let values) = value else {
            let (pointer, count) = unread(value)
            return (pointer.map { UnsafePointer($0.assumingMemoryBound(to: UnsafePointer<CChar>?.self)) }, count)
        }
        let array = block(values.count * 8)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self)
        for (index, value) in values.enumerated() { array?[index] = text(value) }
        return (UnsafePointer(array), values.count)
    }

    func bytes(_ value: BoundaryValue) -> (UnsafeRawPointer?, Int) {
        guard case .bytes(let bytes) = value else {
            let (pointer, count) = unread(value)
            return (UnsafeRawPointer(pointer), count)
        }
        return (UnsafeRawPointer(copy(bytes)), bytes.count)
    }

    /// Returns pointers to objects of the host.
    func objects(
        _ value: BoundaryValue, _ object: (BoundaryValue) -> UnsafeRawPointer?
    ) -> (UnsafeRawPointer?, Int) {
        guard case .list(let values) = value else {
            let (pointer, count) = unread(value)
            return (UnsafeRawPointer(pointer), count)
        }
        let array = block(values.count * 8)?.assumingMemoryBound(to: UnsafeRawPointer?.self)
        for (index, value) in values.enumerated() { array?[index] = object(value) }
        return (UnsafeRawPointer(array), values.count)
    }

    /// Returns an array that the host does not read.
    private func unread(_ value: BoundaryValue) -> (UnsafeMutableRawPointer?, Int) {
        guard case .unread(let count, let isNull) = value else { return (nil, 0) }
        return (isNull ? nil : block(0), Int(truncatingIfNeeded: count))
    }

    func preview(_ value: BoundaryValue) -> UnsafeRawPointer? {
        guard value != .null, let memory = block(MemoryLayout<searchlight_preview_reply>.size) else { return nil }
        let reply = memory.assumingMemoryBound(to: searchlight_preview_reply.self)
        guard let fields = value.list, fields.count == 6 else { return UnsafeRawPointer(memory) }
        let (content, length) = bytes(fields[2])
        let attachments = fields[5].list ?? []
        let pointers = block(attachments.count * 8)?.assumingMemoryBound(
            to: UnsafePointer<searchlight_attachment>?.self)
        for (index, attachment) in attachments.enumerated() { pointers?[index] = self.attachment(attachment) }
        reply.pointee = searchlight_preview_reply(
            size: UInt32(MemoryLayout<searchlight_preview_reply>.size), attachment_count: UInt32(attachments.count),
            content_type: text(fields[0]), title: text(fields[1]), bytes: content, length: length,
            width: fields[3].number ?? 0, height: fields[4].number ?? 0, attachments: pointers)
        return UnsafeRawPointer(memory)
    }

    private func attachment(_ value: BoundaryValue) -> UnsafePointer<searchlight_attachment>? {
        guard let fields = value.list, fields.count == 3,
            let memory = block(MemoryLayout<searchlight_attachment>.size)
        else { return nil }
        let (content, length) = bytes(fields[2])
        let pointer = memory.assumingMemoryBound(to: searchlight_attachment.self)
        pointer.pointee = searchlight_attachment(
            size: UInt32(MemoryLayout<searchlight_attachment>.size), reserved: 0, identifier: text(fields[0]),
            content_type: text(fields[1]), bytes: content, length: length)
        return UnsafePointer(pointer)
    }

    /// The arguments of a call: a word for each.
    ///
    /// - Parameters:
    ///   - object: Returns the pointer for a recorded object.
    ///   - callback: Returns the function and the context for a recorded callback.
    func words(
        _ function: BoundaryFunction, _ values: [BoundaryValue], object: (BoundaryValue) -> UnsafeRawPointer?,
        callback: (BoundaryFunction.CallbackKind) -> (UnsafeRawPointer, UnsafeRawPointer)
    ) -> [UInt64] {
        func word(_ pointer: UnsafeRawPointer?) -> UInt64 { UInt64(UInt(bitPattern: pointer)) }
        func words(_ array: (UnsafeRawPointer?, Int)) -> [UInt64] {
            [word(array.0), UInt64(bitPattern: Int64(array.1))]
        }
        func words(_ array: (TextArray?, Int)) -> [UInt64] { words((UnsafeRawPointer(array.0), array.1)) }
        return zip(function.parameters, values).flatMap { parameter, value -> [UInt64] in
            switch parameter {
            case .host, .object: return [word(object(value))]
            case .request, .int32, .uint32, .int64: return [UInt64(bitPattern: value.integer ?? 0)]
            case .double: return [(value.number ?? 0).bitPattern]
            case .text, .message: return [word(text(value))]
            case .texts: return words(texts(value))
            case .textPairs:
                let pair = (value.list ?? []).map { texts($0) }
                guard pair.count == 2 else { return [0, 0, 0] }
                return [word(pair[0].0), word(pair[1].0), UInt64(bitPattern: Int64(max(pair[0].1, pair[1].1)))]
            case .items: return words(objects(value, object))
            case .bytes: return words(bytes(value))
            case .callback(let kind):
                guard value == .present else { return [0, 0] }
                let (code, context) = callback(kind)
                return [word(code), word(context)]
            case .preview: return [word(preview(value))]
            }
        }
    }
}
