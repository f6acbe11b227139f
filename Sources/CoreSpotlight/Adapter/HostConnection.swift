// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension

/// A failure of the C interface: status and message.
struct HostFailure: Error {
    let status: searchlight_status
    let message: String

    init(_ status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }
}

/// The connection to the host that loaded the extension. It keeps all of the host's pointers.
///
/// It is closed when the extension is destroyed. Later calls, such as those from a handler that an
/// extension retained, do nothing.
final class HostConnection: @unchecked Sendable {
    // Sendable: the host functions that are called here are thread-safe by contract. The host and
    // its tables are valid until the extension is destroyed, and `close` ensures that no call
    // begins after that or is still running. The counters are only read and written under the
    // condition's lock.

    private let host: UnsafePointer<searchlight_host>
    private let requests: searchlight_host_request
    private let index: searchlight_host_index?
    private let batches: searchlight_host_batch?
    private let renames: searchlight_host_rename?
    private let protection: searchlight_host_protection?
    private let omissions: searchlight_host_left_out?
    private let listing: searchlight_host_listing?
    private let cancellation: searchlight_host_cancel?
    /// `NSExtensionPrincipalClass` in the manifest.
    let principalClass: String?
    let bundlePath: String

    private let condition = NSCondition()
    private var callsUnderWay = 0
    private var isClosed = false

    /// Reads the host's interfaces.
    ///
    /// - Throws: ``HostFailure`` if the host has a different version or lacks a required interface.
    init(_ host: UnsafePointer<searchlight_host>?) throws(HostFailure) {
        guard let host, Int(host.pointee.size) >= MemoryLayout<searchlight_host>.size else {
            throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The host is missing, or older than this CoreSpotlight.")
        }
        guard host.pointee.abi_major == SEARCHLIGHT_ABI_MAJOR else {
            throw HostFailure(
                SEARCHLIGHT_UNSUPPORTED,
                "The host has version \(host.pointee.abi_major) of the extension interface, but this CoreSpotlight has "
                    + "version \(SEARCHLIGHT_ABI_MAJOR). Install both from the same release.")
        }
        guard let requests = Self.table(searchlight_host_request.self, SEARCHLIGHT_HOST_REQUEST, \.size, of: host)
        else {
            throw HostFailure(SEARCHLIGHT_UNSUPPORTED, "The host offers no \(SEARCHLIGHT_HOST_REQUEST).")
        }
        self.host = host
        self.requests = requests
        index = Self.table(searchlight_host_index.self, SEARCHLIGHT_HOST_INDEX, \.size, of: host)
        batches = Self.table(searchlight_host_batch.self, SEARCHLIGHT_HOST_BATCH, \.size, of: host)
        renames = Self.table(searchlight_host_rename.self, SEARCHLIGHT_HOST_RENAME, \.size, of: host)
        protection = Self.table(searchlight_host_protection.self, SEARCHLIGHT_HOST_PROTECTION, \.size, of: host)
        omissions = Self.table(searchlight_host_left_out.self, SEARCHLIGHT_HOST_LEFT_OUT, \.size, of: host)
        listing = Self.table(searchlight_host_listing.self, SEARCHLIGHT_HOST_LISTING, \.size, of: host)
        cancellation = Self.table(searchlight_host_cancel.self, SEARCHLIGHT_HOST_CANCEL, \.size, of: host)
        principalClass = host.pointee.principal_class.map { String(cString: $0) }
        bundlePath = host.pointee.bundle_path.map { String(cString: $0) } ?? "the bundle"
    }

    /// Returns a copy of one of the host's tables; `nil` if the host's table is missing or shorter.
    private static func table<Table>(
        _ type: Table.Type, _ identifier: String, _ size: KeyPath<Table, UInt32>,
        of host: UnsafePointer<searchlight_host>
    ) -> Table? {
        guard let pointer = host.pointee.get_interface?(host, identifier) else { return nil }
        // The first field of every table is its size. The other fields may only be read within that
        // size.
        let declared = pointer.load(as: UInt32.self)
        guard Int(declared) >= MemoryLayout<Table>.size else { return nil }
        return pointer.load(as: Table.self)
    }

    /// Blocks new calls, and waits for calls in progress.
    func close() {
        condition.withLock {
            isClosed = true
            while callsUnderWay > 0 { condition.wait() }
        }
    }

    /// Calls the host, unless the connection is closed.
    private func call<Result>(_ body: (UnsafePointer<searchlight_host>) -> Result) -> Result? {
        let isOpen = condition.withLock {
            if !isClosed { callsUnderWay += 1 }
            return !isClosed
        }
        guard isOpen else { return nil }
        defer {
            condition.withLock {
                callsUnderWay -= 1
                if isClosed { condition.broadcast() }
            }
        }
        return body(host)
    }

    // MARK: Answers

    func acknowledge(_ request: searchlight_request) {
        call { requests.finish?($0, request, SEARCHLIGHT_OK, nil) }
    }

    func fail(_ request: searchlight_request, _ failure: HostFailure) {
        call { requests.finish?($0, request, failure.status, failure.message) }
    }

    func finish(_ request: searchlight_request, data: Data) {
        data.withUnsafeBytes { bytes in
            _ = call { requests.finish_with_data?($0, request, bytes.baseAddress, bytes.count) }
        }
    }

    /// Finishes a request with a file, which the host leaves in place.
    func finish(_ request: searchlight_request, path: String) {
        call { requests.finish_with_file?($0, request, path, 0) }
    }

    func finishPage(_ request: searchlight_request, next: Data?) {
        guard let next else { return call { requests.finish_page?($0, request, nil, 0) } ?? () }
        next.withUnsafeBytes { bytes in
            _ = call { requests.finish_page?($0, request, bytes.baseAddress, bytes.count) }
        }
    }

    func finish(_ request: searchlight_request, preview: RenderedPreview) {
        withAttachments(preview.attachments[...], []) { attachments in
            preview.data.withUnsafeBytes { bytes in
                preview.contentType.withCString { type in
                    withOptionalCString(preview.title) { title in
                        var reply = searchlight_preview_reply(
                            size: UInt32(MemoryLayout<searchlight_preview_reply>.size),
                            attachment_count: UInt32(attachments.count), content_type: type, title: title,
                            bytes: bytes.baseAddress, length: bytes.count, width: Double(preview.size.width),
                            height: Double(preview.size.height),
                            attachments: attachments.baseAddress)
                        _ = call { requests.finish_with_preview?($0, request, &reply) }
                    }
                }
            }
        }
    }

    /// Runs a task for a request, and cancels the task when the host cancels the request.
    func runTask(for request: searchlight_request, _ body: @escaping @Sendable () async -> Void) {
        let task = RequestTask()
        let number = RequestTask.add(task)
        if let setHandler = cancellation?.set_handler {
            call {
                setHandler(
                    $0, request, { context, _ in RequestTask.remove(UInt(bitPattern: context))?.cancel() },
                    UnsafeMutableRawPointer(bitPattern: number))
            }
        }
        task.start {
            await body()
            _ = RequestTask.remove(number)
        }
    }

    /// Returns `true` if the host has cancelled the request.
    func isCancelled(_ request: searchlight_request) -> Bool {
        call { cancellation?.is_cancelled?($0, request) ?? 0 } ?? 0 != 0
    }

    // MARK: Index

    /// Calls a function in the host's index table.
    ///
    /// - Returns: The function's status; `SEARCHLIGHT_UNAVAILABLE` if the connection is closed or
    ///   the host has no index.
    func callIndex(
        _ body: (searchlight_host_index, UnsafePointer<searchlight_host>) -> searchlight_status?
    ) -> searchlight_status {
        guard let index else { return SEARCHLIGHT_UNAVAILABLE }
        return call { body(index, $0) ?? SEARCHLIGHT_UNAVAILABLE } ?? SEARCHLIGHT_UNAVAILABLE
    }

    /// Calls a function in the host's batch table.
    ///
    /// - Returns: The function's status; `SEARCHLIGHT_UNSUPPORTED` if the host does not support
    ///   batches, `SEARCHLIGHT_UNAVAILABLE` if the connection is closed.
    func callBatches(
        _ body: (searchlight_host_batch, UnsafePointer<searchlight_host>) -> searchlight_status?
    ) -> searchlight_status {
        guard let batches else { return SEARCHLIGHT_UNSUPPORTED }
        return call { body(batches, $0) ?? SEARCHLIGHT_UNSUPPORTED } ?? SEARCHLIGHT_UNAVAILABLE
    }

    /// Sets the protection class of an index for later donations.
    ///
    /// - Returns: The function's status; `SEARCHLIGHT_UNSUPPORTED` if the host cannot encrypt,
    ///   `SEARCHLIGHT_UNAVAILABLE` if the connection is closed.
    func setClass(_ number: Int32, of index: UnsafePointer<CChar>?) -> searchlight_status {
        guard let setClass = protection?.set_class else { return SEARCHLIGHT_UNSUPPORTED }
        return call { setClass($0, index, number) } ?? SEARCHLIGHT_UNAVAILABLE
    }

    /// Reports omitted content to the host. Does nothing if the host lacks the interface.
    func reportLeftOut(_ name: String, reason: String) { call { omissions?.report?($0, name, reason) } }

    /// Calls the function that lists items.
    ///
    /// - Returns: The function's status; `SEARCHLIGHT_UNSUPPORTED` if the host cannot list items,
    ///   `SEARCHLIGHT_UNAVAILABLE` if the connection is closed.
    func callListing(
        _ body: (searchlight_host_listing, UnsafePointer<searchlight_host>) -> searchlight_status?
    ) -> searchlight_status {
        guard let listing else { return SEARCHLIGHT_UNSUPPORTED }
        return call { body(listing, $0) ?? SEARCHLIGHT_UNSUPPORTED } ?? SEARCHLIGHT_UNAVAILABLE
    }

    /// Calls a function that renames items.
    ///
    /// - Returns: The function's status; `SEARCHLIGHT_UNSUPPORTED` if the host cannot rename items,
    ///   `SEARCHLIGHT_UNAVAILABLE` if the connection is closed.
    func callRenames(
        _ body: (searchlight_host_rename, UnsafePointer<searchlight_host>) -> searchlight_status?
    ) -> searchlight_status {
        guard let renames else { return SEARCHLIGHT_UNSUPPORTED }
        return call { body(renames, $0) ?? SEARCHLIGHT_UNSUPPORTED } ?? SEARCHLIGHT_UNAVAILABLE
    }
}

/// Passes attachments as C structures to a closure. All pointers in them are valid during the call.
private func withAttachments(
    _ rest: ArraySlice<RenderedPreview.Attachment>, _ done: [UnsafePointer<searchlight_attachment>?],
    _ body: (UnsafeBufferPointer<UnsafePointer<searchlight_attachment>?>) -> Void
) {
    guard let next = rest.first else { return done.withUnsafeBufferPointer(body) }
    next.identifier.withCString { identifier in
        next.contentType.withCString { type in
            next.data.withUnsafeBytes { bytes in
                let attachment = searchlight_attachment(
                    size: UInt32(MemoryLayout<searchlight_attachment>.size), reserved: 0, identifier: identifier,
                    content_type: type, bytes: bytes.baseAddress, length: bytes.count)
                withUnsafePointer(to: attachment) { withAttachments(rest.dropFirst(), done + [$0], body) }
            }
        }
    }
}
