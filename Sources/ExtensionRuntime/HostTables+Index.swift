// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.index/1`.

/// A completion with its context.
///
/// `@unchecked Sendable`: the header requires that a completion can be called on any thread with
/// its context. No code here reads the context.
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

/// Returns the records of items as a batch, with the status to return. Items that are too large are
/// logged.
func records(
    _ items: UnsafePointer<OpaquePointer?>?, _ count: Int, _ session: HostSession?
) -> (batch: [UInt8], status: Int32) {
    // As with the names to delete, an extension does not have to treat an empty donation as a
    // special case.
    guard count != 0 else { return ([], SEARCHLIGHT_OK) }
    guard let items, count > 0 else {
        session?.misuse(.invalidArgument, "A donation has \(count) items at no address.")
        return ([], SEARCHLIGHT_INVALID_ARGUMENT)
    }
    var batch: [UInt8] = []
    for position in 0..<count {
        let status = use(ItemBuilder.all, items[position], "searchlight_item") { builder in
            do throws(ItemRecordError) {
                RecordBatch.append(try builder.record.encoded(), to: &batch)
                return SEARCHLIGHT_OK
            } catch {
                session?.log(.error, "Item \(position + 1) of \(count) of a donation: \(error)")
                return SEARCHLIGHT_TOO_LARGE
            }
        }
        guard status == SEARCHLIGHT_OK else { return ([], status) }
        guard batch.count <= RecordBatch.maximumBytes else { return ([], SEARCHLIGHT_TOO_LARGE) }
    }
    return (batch, SEARCHLIGHT_OK)
}

/// Returns `true` if the name of an index is within its bound. The empty name is the default index.
func isIndexName(_ name: String) -> Bool { name.utf8.count <= IndexBatch.maximumNameBytes }

/// Sends a request to the index. Returns the status for the extension.
func send(
    _ host: HostPointer?, _ index: UnsafePointer<CChar>?, _ request: (String?) -> IndexRequest,
    _ completion: (@Sendable (HostSession.Outcome) -> Void)?
) -> Int32 {
    guard let session = session(host), let index = optionalText(index, "The name of an index", session) else {
        return SEARCHLIGHT_INVALID_ARGUMENT
    }
    // The service would refuse it later, or a very long name would end the connection.
    guard isIndexName(index ?? "") else { return SEARCHLIGHT_TOO_LARGE }
    let request = session.classified(request(index))
    // A larger request does not fit into a message and would end the connection.
    guard request.byteCount <= ChangeList.maximumBytes else { return SEARCHLIGHT_TOO_LARGE }
    session.send(request, completion: completion)
    return SEARCHLIGHT_OK
}

private func send(
    _ host: HostPointer?, _ index: UnsafePointer<CChar>?, _ change: EncodedChange,
    _ function: searchlight_completion?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    send(host, index, { IndexRequest(change, index: $0) }, Completion(function: function, context: context).handler)
}

let indexTable = StaticTable(
    searchlight_host_index(
        size: UInt32(MemoryLayout<searchlight_host_index>.size), reserved: 0,
        index_items: { host, index, items, count, completion, context in
            let (batch, status) = records(items, count, session(host))
            guard status == SEARCHLIGHT_OK else { return status }
            return send(host, index, .put(batch), completion, context)
        },
        index_records: { host, index, records, length, completion, context in
            guard length <= RecordBatch.maximumBytes else { return SEARCHLIGHT_TOO_LARGE }
            guard let batch = bytes(records, length, "A batch of records", session(host)), !batch.isEmpty else {
                return SEARCHLIGHT_INVALID_ARGUMENT
            }
            return send(host, index, .put(batch), completion, context)
        },
        delete_items: { host, index, identifiers, count, completion, context in
            guard let names = texts(identifiers, count, "The identifiers to delete", session(host)) else {
                return SEARCHLIGHT_INVALID_ARGUMENT
            }
            return send(host, index, .deleteItems(names), completion, context)
        },
        delete_domains: { host, index, domains, count, completion, context in
            guard let names = texts(domains, count, "The domains to delete", session(host)) else {
                return SEARCHLIGHT_INVALID_ARGUMENT
            }
            return send(host, index, .deleteDomains(names), completion, context)
        },
        delete_all: { host, index, completion, context in
            send(host, index, .deleteAll, completion, context)
        }))
