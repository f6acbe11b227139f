// SPDX-License-Identifier: Apache-2.0
import SearchlightExtension
import ServiceProtocol

// The functions of `searchlight.index/1`.

/// A completion and its context, carried to another thread.
///
/// `@unchecked Sendable`: the header asks that a completion be callable on any thread with its context; nothing here
/// looks into either.
struct Completion: @unchecked Sendable {
    let function: searchlight_completion?
    let context: UnsafeMutableRawPointer?

    var handler: (@Sendable (HostSession.Outcome) -> Void)? {
        guard function != nil else { return nil }
        return { outcome in
            switch outcome {
            case .done: self.function?(self.context, SEARCHLIGHT_OK, nil)
            case .failed(let status, let message):
                message.withCString { self.function?(self.context, status.rawValue, $0) }
            }
        }
    }
}

/// The texts in an array of C strings; `nil` if one is missing or not UTF-8.
func texts(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) -> [String]? {
    guard let pointer, count >= 0 else { return count == 0 ? [] : nil }
    var texts: [String] = []
    for index in 0..<count {
        guard let text = text(pointer[index]) else { return nil }
        texts.append(text)
    }
    return texts
}

/// The records of items, as a batch; or the status to return, with a message for the log.
func records(
    _ items: UnsafePointer<OpaquePointer?>?, _ count: Int
) -> (batch: [UInt8], status: Int32, message: String?) {
    guard let items, count > 0 else { return ([], SEARCHLIGHT_INVALID_ARGUMENT, nil) }
    var batch: [UInt8] = []
    for position in 0..<count {
        guard let item = items[position] else { return ([], SEARCHLIGHT_INVALID_ARGUMENT, nil) }
        do throws(ItemRecordError) {
            RecordBatch.append(try ItemBuilder.borrowed(item).record.encoded(), to: &batch)
        } catch {
            return ([], SEARCHLIGHT_TOO_LARGE, "Item \(position + 1) of \(count) of a donation: \(error)")
        }
    }
    return (batch, batch.count <= RecordBatch.maximumBytes ? SEARCHLIGHT_OK : SEARCHLIGHT_TOO_LARGE, nil)
}

/// Sends a request to the index; the status to return.
func send(
    _ host: HostPointer?, _ index: UnsafePointer<CChar>?, _ action: IndexRequest.Action,
    _ completion: (@Sendable (HostSession.Outcome) -> Void)?
) -> Int32 {
    guard let session = session(host) else { return SEARCHLIGHT_INVALID_ARGUMENT }
    session.send(IndexRequest(action, index: text(index)), completion: completion)
    return SEARCHLIGHT_OK
}

private func send(
    _ host: HostPointer?, _ index: UnsafePointer<CChar>?, _ action: IndexRequest.Action,
    _ function: searchlight_completion?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    send(host, index, action, Completion(function: function, context: context).handler)
}

let indexTable = StaticTable(
    searchlight_host_index(
        size: UInt32(MemoryLayout<searchlight_host_index>.size), reserved: 0,
        index_items: { host, index, items, count, completion, context in
            let (batch, status, message) = records(items, count)
            if let message { session(host)?.log(.error, message) }
            guard status == SEARCHLIGHT_OK else { return status }
            return send(host, index, .indexRecords(batch), completion, context)
        },
        index_records: { host, index, bytes, length, completion, context in
            guard let bytes, length > 0 else { return SEARCHLIGHT_INVALID_ARGUMENT }
            guard length <= RecordBatch.maximumBytes else { return SEARCHLIGHT_TOO_LARGE }
            let batch = Array(UnsafeBufferPointer(start: bytes, count: length))
            return send(host, index, .indexRecords(batch), completion, context)
        },
        delete_items: { host, index, identifiers, count, completion, context in
            guard let identifiers = texts(identifiers, count) else { return SEARCHLIGHT_INVALID_ARGUMENT }
            return send(host, index, .deleteItems(identifiers), completion, context)
        },
        delete_domains: { host, index, domains, count, completion, context in
            guard let domains = texts(domains, count) else { return SEARCHLIGHT_INVALID_ARGUMENT }
            return send(host, index, .deleteDomains(domains), completion, context)
        },
        delete_all: { host, index, completion, context in
            send(host, index, .deleteAll, completion, context)
        }))
