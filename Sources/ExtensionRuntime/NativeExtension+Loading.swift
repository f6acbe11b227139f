// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceMessages
import Synchronization

/// The result of opening a library on another thread.
private final class LibraryOpening: Sendable {
    let address = Atomic<UInt>(0)
    let reason = Mutex<String?>(nil)
}

// The steps from a library to its object and interfaces. All run on the loading thread.
extension NativeExtension {
    /// The entry point that the CoreSpotlight library exports for extensions that name a principal
    /// class.
    private static let adapterSymbol = "searchlight_corespotlight_entry_point"
    private static let maximumErrorBytes = 1024

    /// Opens a library and never closes it: without its Swift metadata, the runtime would have
    /// dangling pointers.
    static func open(_ path: String) throws(LoadError) -> UnsafeMutableRawPointer {
        let opening = LibraryOpening()
        MainThread.perform {
            if let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) {
                opening.address.store(UInt(bitPattern: handle), ordering: .releasing)
            } else {
                // dlerror is per thread, so the text is copied here.
                let reason = dlerror().map { String(cString: $0) }
                opening.reason.withLock { $0 = reason }
            }
        }
        guard let handle = UnsafeMutableRawPointer(bitPattern: opening.address.load(ordering: .acquiring)) else {
            let reason = opening.reason.withLock { $0 } ?? "unknown reason"
            let advice = Self.advice(on: reason).map { ". \($0)" } ?? ""
            throw LoadError(failure: .cannotOpen, message: "Opening \(path) failed: \(reason)\(advice)")
        }
        return handle
    }

    /// Returns the remedy for a dynamic linker error.
    private static func advice(on reason: String) -> String? {
        if reason.contains("cannot open shared object file") {
            return
                "Install the package of this library, or put it into the bundle and link with -Wl,-rpath,'$ORIGIN'."
        }
        if reason.contains("undefined symbol") {
            return "Link with the library of this symbol; “nm -D” lists the symbols of a library."
        }
        return nil
    }

    static func entry(
        of library: UnsafeMutableRawPointer, _ request: LoadRequest
    ) throws(LoadError) -> UnsafePointer<searchlight_extension_entry> {
        let symbol: String
        if request.principalClass == nil {
            symbol = SEARCHLIGHT_ENTRY_SYMBOL
        } else {
            symbol = adapterSymbol
        }
        guard let address = dlsym(library, symbol) else {
            let advice =
                request.principalClass == nil
                ? "Export \(symbol), or name a class in NSExtensionPrincipalClass."
                : "Link the library with CoreSpotlight, which provides \(symbol)."
            throw LoadError(
                failure: .missingEntryPoint, message: "\(request.libraryPath) has no symbol \(symbol). \(advice)")
        }
        let function = unsafeBitCast(address, to: searchlight_extension_entry_function.self)
        guard let entry = function() else {
            throw LoadError(
                failure: .missingEntryPoint,
                message: "\(symbol) of \(request.libraryPath) returned NULL. It has to return the extension's entry.")
        }
        let header = entry.pointee
        guard header.abi_major == abiMajor, Int(header.size) >= MemoryLayout<searchlight_extension_entry>.size else {
            throw LoadError(
                failure: .incompatibleABI,
                message: """
                    The extension was built for version \(header.abi_major).\(header.abi_minor) of \
                    searchlight_extension.h (entry of \(header.size) bytes); this host has \(abiMajor).\(abiMinor). \
                    Rebuild it with this host's header.
                    """)
        }
        if let identifier = text(header.identifier), identifier != request.bundleIdentifier {
            throw LoadError(
                failure: .identifierMismatch,
                message: """
                    The library declares \(identifier), but CFBundleIdentifier in its Info.plist is \
                    \(request.bundleIdentifier). Make them the same.
                    """)
        }
        return entry
    }

    static func create(
        _ entry: UnsafePointer<searchlight_extension_entry>, host: UnsafePointer<searchlight_host>
    ) throws(LoadError) -> OpaquePointer? {
        guard let create = entry.pointee.create, entry.pointee.get_interface != nil else {
            throw LoadError(
                failure: .cannotCreate, message: "The extension's entry has no create or get_interface. Set both.")
        }
        var object: OpaquePointer?
        let (status, message) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumErrorBytes) { buffer in
            buffer.initialize(repeating: 0)
            let status = create(host, &object, buffer.baseAddress, buffer.count - 1)
            buffer[buffer.count - 1] = 0
            return (status, buffer.baseAddress.map { String(cString: $0) } ?? "")
        }
        guard status == SEARCHLIGHT_OK else {
            throw LoadError(
                failure: .cannotCreate,
                message: message.isEmpty ? "The extension could not be created, and gave no reason." : message)
        }
        return object
    }

    static func interface<Table>(
        _ entry: UnsafePointer<searchlight_extension_entry>, _ object: OpaquePointer?, _ identifier: String
    ) -> UnsafePointer<Table>? {
        let raw = identifier.withCString { entry.pointee.get_interface?(object, $0) }
        guard let table = raw?.assumingMemoryBound(to: Table.self) else { return nil }
        // Every table starts with its size. A shorter table belongs to another revision.
        let size = UnsafeRawPointer(table).loadUnaligned(as: UInt32.self)
        return Int(size) >= MemoryLayout<Table>.size ? table : nil
    }
}
