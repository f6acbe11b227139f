// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SearchlightExtension
internal import SystemSupport

/// Returns the entry point of every extension whose manifest names a principal class. The worker
/// calls this function in CoreSpotlight instead of a function in the extension's library.
///
/// - Returns: A static `searchlight_extension_entry`. The pointer is raw, so that code that imports
///   CoreSpotlight needs no C header. In C, this function is a
///   `searchlight_extension_entry_function`.
@_cdecl("searchlight_corespotlight_entry_point")
public func searchlightCoreSpotlightEntryPoint() -> UnsafeRawPointer { ExtensionTables.entry.address }

/// The C function tables that the adapter offers to the host. They are the same for all principal
/// classes.
enum ExtensionTables {
    static let entry = StaticTable(
        searchlight_extension_entry(
            size: UInt32(MemoryLayout<searchlight_extension_entry>.size), abi_major: SEARCHLIGHT_ABI_MAJOR,
            abi_minor: SEARCHLIGHT_ABI_MINOR, reserved: 0, identifier: nil,
            create: { host, result, error, capacity in
                ExtensionTables.create(host, result, error, capacity)
            },
            destroy: { pointer in
                guard let pointer else { return }
                Unmanaged<ExtensionInstance>.fromOpaque(UnsafeRawPointer(pointer)).takeRetainedValue().close()
            },
            get_interface: { pointer, identifier in
                guard let instance = ExtensionTables.instance(pointer), let identifier else { return nil }
                return ExtensionTables.interface(String(cString: identifier), of: instance)
            }))

    /// Returns the instance behind the host's pointer.
    static func instance(_ pointer: OpaquePointer?) -> ExtensionInstance? {
        pointer.map { Unmanaged<ExtensionInstance>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    private static func create(
        _ host: UnsafePointer<searchlight_host>?, _ result: UnsafeMutablePointer<OpaquePointer?>?,
        _ error: UnsafeMutablePointer<CChar>?, _ capacity: Int
    ) -> searchlight_status {
        do throws(HostFailure) {
            guard let result else {
                throw HostFailure(SEARCHLIGHT_INVALID_ARGUMENT, "The pointer for the extension is NULL.")
            }
            let instance = try ExtensionInstance(HostConnection(host))
            result.pointee = OpaquePointer(Unmanaged.passRetained(instance).toOpaque())
            return SEARCHLIGHT_OK
        } catch let failure {
            write(failure.message, to: error, capacity)
            return failure.status
        }
    }

    /// Writes as many whole characters of the message as fit into the buffer.
    private static func write(_ message: String, to buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int) {
        guard let buffer, capacity > 0 else { return }
        var count = 0
        for character in message {
            let bytes = character.utf8
            guard count + bytes.count < capacity else { break }
            for byte in bytes {
                buffer[count] = CChar(bitPattern: byte)
                count += 1
            }
        }
        buffer[count] = 0
    }

    private static func interface(_ identifier: String, of instance: ExtensionInstance) -> UnsafeRawPointer? {
        switch identifier {
        case SEARCHLIGHT_EXTENSION_REINDEX: instance.servesIndex ? reindex.address : nil
        case SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS: instance.servesIndex ? encryptedItems.address : nil
        case SEARCHLIGHT_EXTENSION_PAGING: instance.servesPages ? paging.address : nil
        case SEARCHLIGHT_EXTENSION_CHANGES: instance.servesFileChanges ? changes.address : nil
        case SEARCHLIGHT_EXTENSION_PROMISES: instance.servesIndex ? promises.address : nil
        case SEARCHLIGHT_EXTENSION_THROTTLE: instance.servesIndex ? throttle.address : nil
        case SEARCHLIGHT_EXTENSION_PREVIEW: instance.servesPreviews ? preview.address : nil
        default: nil
        }
    }
}
