// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import Glibc
import ItemRecord
import SearchlightExtension

/// The memory for the arguments of one C call, filled from recorded values. It is freed with the
/// object.
///
/// A recording may state that the host does not read an array, although the host does: files can be
/// damaged or hostile. So each array has memory for all elements that its length states.
final class ArgumentMemory {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// The start and size in bytes of memory without content.
    private var zeros: [(start: UnsafeMutableRawPointer, count: Int)] = []

    /// The size of a pointer, in bytes; no element is larger.
    private static let pointerBytes = MemoryLayout<UnsafeRawPointer>.size

    deinit {
        blocks.forEach { free($0) }
        for (start, count) in zeros { munmap(start, count) }
    }

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

    /// Returns a C string, which is empty if the host did not read the text.
    func text(_ value: BoundaryValue) -> UnsafePointer<CChar>? {
        switch value {
        case .text(let bytes): UnsafePointer(copy(bytes, extra: 1)?.assumingMemoryBound(to: CChar.self))
        case .unread(_, false): UnsafePointer(copy([], extra: 1)?.assumingMemoryBound(to: CChar.self))
        default: nil
        }
    }

    /// - Parameter least: The minimum number of elements in the array, with NULL for elements that
    ///   are not recorded.
    func texts(_ value: BoundaryValue, least: Int = 0) -> (TextArray?, Int) {
        guard case .list(let values) = value else {
            let (pointer, count) = unread(value, least: least)
            return (pointer.map { UnsafePointer($0.assumingMemoryBound(to: UnsafePointer<CChar>?.self)) }, count)
        }
        let length = max(values.count, least)
        guard length <= CallRecording.maximumValues else { return (nil, values.count) }
        let array = block(length * Self.pointerBytes)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self)
        for (index, value) in values.enumerated() { array?[index] = text(value) }
        return (UnsafePointer(array), values.count)
    }

    /// - Parameter limit: The maximum number of bytes that the host reads.
    func bytes(_ value: BoundaryValue, limit: Int = .max) -> (UnsafeRawPointer?, Int) {
        guard case .bytes(let bytes) = value else {
            let (pointer, count) = unread(value, limit: limit)
            return (UnsafeRawPointer(pointer), count)
        }
        return (UnsafeRawPointer(copy(bytes)), bytes.count)
    }

    /// Returns pointers to the host's objects.
    func objects(
        _ value: BoundaryValue, _ object: (BoundaryValue) -> UnsafeRawPointer?
    ) -> (UnsafeRawPointer?, Int) {
        guard case .list(let values) = value else {
            let (pointer, count) = unread(value)
            return (UnsafeRawPointer(pointer), count)
        }
        let array = block(values.count * Self.pointerBytes)?.assumingMemoryBound(to: UnsafeRawPointer?.self)
        for (index, value) in values.enumerated() { array?[index] = object(value) }
        return (UnsafeRawPointer(array), values.count)
    }

    /// Returns an array that the host should not read.
    private func unread(_ value: BoundaryValue, least: Int = 0, limit: Int = .max) -> (UnsafeMutableRawPointer?, Int) {
        guard case .unread(let stated, let isNull) = value else { return (nil, 0) }
        let count = Int(truncatingIfNeeded: stated)
        if isNull { return (nil, count) }
        // The host rejects the length before it reads the array.
        let isRefused = count < 0 || count > limit
        return (isRefused && least <= 0 ? block(0) : empty(max(count, least)), count)
    }

    /// Returns an array of zeros, which only takes address space; `nil` if there is not enough.
    private func empty(_ count: Int) -> UnsafeMutableRawPointer? {
        guard count > 0 else { return block(0) }
        let (size, overflows) = count.multipliedReportingOverflow(by: Self.pointerBytes)
        guard !overflows, size <= Self.maximumEmptyBytes,
            let start = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            start != MAP_FAILED
        else { return nil }
        zeros.append((start, size))
        return start
    }

    /// The maximum size of an array without content, in bytes.
    private static let maximumEmptyBytes = 1 << 40

    /// Returns the stated number of elements.
    private static func length(_ value: BoundaryValue) -> Int {
        switch value {
        case .list(let values): values.count
        case .unread(let count, _): Int(truncatingIfNeeded: count)
        default: 0
        }
    }

    func preview(_ value: BoundaryValue) -> UnsafeRawPointer? {
        guard value != .null, let memory = block(MemoryLayout<searchlight_preview_reply>.size) else { return nil }
        let reply = memory.assumingMemoryBound(to: searchlight_preview_reply.self)
        guard let fields = value.list, fields.count == 6 else { return UnsafeRawPointer(memory) }
        let (content, length) = bytes(fields[2], limit: PreviewHeader.maximumBytes)
        let attachments = fields[5].list ?? []
        let pointers = block(attachments.count * Self.pointerBytes)?.assumingMemoryBound(
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
        let (content, length) = bytes(fields[2], limit: PreviewHeader.maximumBytes)
        let pointer = memory.assumingMemoryBound(to: searchlight_attachment.self)
        pointer.pointee = searchlight_attachment(
            size: UInt32(MemoryLayout<searchlight_attachment>.size), reserved: 0, identifier: text(fields[0]),
            content_type: text(fields[1]), bytes: content, length: length)
        return UnsafePointer(pointer)
    }

    /// Returns the arguments of a call, one word each.
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
                guard let pair = value.list, pair.count == 2 else { return [0, 0, 0] }
                // The recorder stopped at an element that the host rejects, so one of the lists may
                // be shorter.
                let count = max(Self.length(pair[0]), Self.length(pair[1]))
                let (old, new) = (texts(pair[0], least: count).0, texts(pair[1], least: count).0)
                return [word(old), word(new), UInt64(bitPattern: Int64(count))]
            case .items: return words(objects(value, object))
            case .bytes(let limit): return words(bytes(value, limit: limit))
            case .callback(let kind):
                guard value == .present else { return [0, 0] }
                let (code, context) = callback(kind)
                return [word(code), word(context)]
            case .preview: return [word(preview(value))]
            }
        }
    }
}
