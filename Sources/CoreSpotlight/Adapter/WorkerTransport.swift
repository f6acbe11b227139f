// SPDX-License-Identifier: Apache-2.0

internal import SearchlightExtension

/// Sends to the index through the worker that loaded the extension.
struct WorkerTransport: IndexTransport {
    let connection: HostConnection

    func send(_ request: IndexRequest, to indexName: String?, completion: @escaping @Sendable (CSIndexError?) -> Void) {
        let context = PendingCompletions.add(completion, for: connection)
        let status = send(request, to: indexName, context)
        // The host completes only what it accepted.
        if status != SEARCHLIGHT_OK { PendingCompletions.complete(context, CSIndexError(status, nil)) }
    }

    private func send(
        _ request: IndexRequest, to indexName: String?, _ context: UnsafeMutableRawPointer?
    ) -> searchlight_status {
        let done = PendingCompletions.function
        return connection.callIndex { index, host in
            withOptionalCString(indexName) { name in
                switch request {
                case .index(let batch): index.index_records?(host, name, batch, batch.count, done, context)
                case .deleteItems(let identifiers):
                    withCStrings(identifiers) { index.delete_items?(host, name, $0, identifiers.count, done, context) }
                case .deleteDomains(let domains):
                    withCStrings(domains) { index.delete_domains?(host, name, $0, domains.count, done, context) }
                case .deleteAll: index.delete_all?(host, name, done, context)
                }
            }
        }
    }
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// The texts as an array of C strings, in one block of memory.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
) -> Result {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for text in texts {
        starts.append(bytes.count)
        bytes.append(contentsOf: text.utf8.lazy.map(CChar.init(bitPattern:)))
        bytes.append(0)
    }
    return bytes.withUnsafeBufferPointer { block in
        let pointers = starts.map { block.baseAddress?.advanced(by: $0) }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
