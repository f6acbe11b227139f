// SPDX-License-Identifier: Apache-2.0
import SearchlightExtension
import ServiceMessages
import Synchronization
import SystemSupport

/// The C tables through which an extension calls its host. Allocated once per extension object and
/// never freed, because an extension may keep the pointers.
///
/// `@unchecked Sendable`: all memory is written in `init` and only read afterwards.
final class HostTables: @unchecked Sendable {
    /// The type of `searchlight_host.get_interface`.
    typealias InterfaceFunction =
        @convention(c) (
            UnsafePointer<searchlight_host>?, UnsafePointer<CChar>?
        ) -> UnsafeRawPointer?

    let host: UnsafeMutablePointer<searchlight_host>

    /// - Parameter recorded: The tables to use instead of the host's own; `nil` for the host's own.
    init(
        session: HostSession, bundleIdentifier: String, bundlePath: String, principalClass: String?,
        recorded: BoundaryTables? = nil
    ) {
        latestSession.withLock { $0 = session }
        host = .allocate(capacity: 1)
        host.initialize(
            to: searchlight_host(
                size: UInt32(MemoryLayout<searchlight_host>.size), abi_major: abiMajor, abi_minor: abiMinor,
                reserved: 0, context: Unmanaged.passRetained(session).toOpaque(),
                bundle_identifier: immortalCString(bundleIdentifier), bundle_path: immortalCString(bundlePath),
                principal_class: principalClass.map(immortalCString),
                get_interface: recorded?.getInterface ?? hostInterface))
        if recorded != nil { BoundaryHost.shared = UnsafePointer(host) }
    }
}

let abiMajor: UInt32 = 1
let abiMinor: UInt32 = 0

/// Returns a copy of a text. The copy is never freed.
private func immortalCString(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return UnsafePointer(copy)
}

/// The latest session. It reports misuse that involves an invalid pointer, which identifies no
/// host.
let latestSession = Mutex<HostSession?>(nil)

/// Returns the session of a host pointer that an extension passed.
func session(_ host: UnsafePointer<searchlight_host>?) -> HostSession? {
    guard let context = host?.pointee.context else { return nil }
    return Unmanaged<HostSession>.fromOpaque(context).takeUnretainedValue()
}

private let logTable = StaticTable(
    searchlight_host_log(
        size: UInt32(MemoryLayout<searchlight_host_log>.size), reserved: 0,
        log: { host, level, message in
            guard let session = session(host), let message = ExtensionRuntime.message(message, "A log message", session)
            else { return }
            session.log(HostRequest.LogLevel(rawValue: UInt64(max(1, min(3, level)))) ?? .info, message)
        }))

private let leftOutTable = StaticTable(
    searchlight_host_left_out(
        size: UInt32(MemoryLayout<searchlight_host_left_out>.size), reserved: 0,
        report: { host, name, reason in
            guard let session = session(host),
                let name = ExtensionRuntime.message(name, "A name that is left out", session),
                let reason = ExtensionRuntime.message(reason, "A reason to leave something out", session)
            else { return }
            session.leaveOut(LeftOut(name: name, reason: reason))
        }))

private let hostInterface: HostTables.InterfaceFunction = { _, identifier in text(identifier).flatMap(hostTable) }

/// Returns the table of a host interface; `nil` if the host has no interface with this identifier.
func hostTable(_ identifier: String) -> UnsafeRawPointer? {
    switch identifier {
    case SEARCHLIGHT_HOST_REQUEST: requestTable.address
    case SEARCHLIGHT_HOST_CANCEL: cancelTable.address
    case SEARCHLIGHT_HOST_PROGRESS: progressTable.address
    case SEARCHLIGHT_HOST_THREAD_CHECK: threadCheckTable.address
    case SEARCHLIGHT_HOST_ITEMS: itemsTable.address
    case SEARCHLIGHT_HOST_CUSTOM_KEYS: customKeysTable.address
    case SEARCHLIGHT_HOST_INDEX: indexTable.address
    case SEARCHLIGHT_HOST_BATCH: batchTable.address
    case SEARCHLIGHT_HOST_RENAME: renameTable.address
    case SEARCHLIGHT_HOST_PROTECTION: protectionTable.address
    case SEARCHLIGHT_HOST_LISTING: listingTable.address
    case SEARCHLIGHT_HOST_LOG: logTable.address
    case SEARCHLIGHT_HOST_LEFT_OUT: leftOutTable.address
    case SEARCHLIGHT_HOST_CONTENT: contentTable.address
    default: nil
    }
}
