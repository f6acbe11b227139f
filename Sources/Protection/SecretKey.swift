// SPDX-License-Identifier: Apache-2.0
import CSodium
import Synchronization

/// A key of 32 bytes. Its memory lies between guard pages, is not swapped and not part of core
/// files where the kernel allows that, and is overwritten by ``wipe()`` and at the end of the
/// object.
///
/// ```swift
/// let key = try SecretKey()
/// let sealed = try Sealing.seal(bytes, with: key, context: [])
/// key.wipe()  // from now on, its uses throw ProtectionError.locked
/// ```
///
/// May be used from any thread.
package final class SecretKey: Sendable {
    /// The length of a key in bytes.
    package static let byteCount = 32

    /// The owned memory; `nil` once it is wiped.
    private let memory: Mutex<Memory?>

    /// Memory from `sodium_malloc`.
    private struct Memory: @unchecked Sendable {
        // Sendable: the pointer is stored only in the key's mutex, and used only while that is
        // locked.
        let bytes: UnsafeMutablePointer<UInt8>
    }

    /// `true` once libsodium is initialized. Its other functions are thread-safe after that.
    static let isReady = sodium_init() >= 0

    /// Creates a key.
    ///
    /// - Parameter fill: Fills the memory of the key, ``byteCount`` bytes.
    /// - Throws: ``ProtectionError/noMemory``, or an error of the closure.
    package init(
        filling fill: (UnsafeMutablePointer<UInt8>) throws(ProtectionError) -> Void
    ) throws(ProtectionError) {
        guard Self.isReady, let memory = sodium_malloc(Self.byteCount) else { throw .noMemory }
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        do throws(ProtectionError) {
            try fill(bytes)
        } catch {
            sodium_free(memory)
            throw error
        }
        self.memory = Mutex(Memory(bytes: bytes))
    }

    /// Creates a random key.
    package convenience init() throws(ProtectionError) {
        try self.init { (bytes: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
            randombytes_buf(bytes, Self.byteCount)
        }
    }

    /// Returns a copy, which outlasts this key.
    package func copy() throws(ProtectionError) -> SecretKey {
        try use { (bytes: UnsafePointer<UInt8>) throws(ProtectionError) in
            try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
                memory.update(from: bytes, count: Self.byteCount)
            }
        }
    }

    /// Passes the bytes of the key to a closure, which must not keep the pointer. Other uses of
    /// this key wait, and so does ``wipe()``.
    ///
    /// - Throws: ``ProtectionError/locked`` after ``wipe()``, or an error of the closure.
    func use<Value: Sendable>(
        _ body: (UnsafePointer<UInt8>) throws(ProtectionError) -> Value
    ) throws(ProtectionError) -> Value {
        try memory.withLock { memory -> Result<Value, ProtectionError> in
            guard let memory else { return .failure(.locked) }
            return Result { () throws(ProtectionError) in
                try body(UnsafePointer(memory.bytes))
            }
        }.get()
    }

    /// Overwrites and frees the memory.
    package func wipe() {
        memory.withLock { memory in
            // `sodium_free` overwrites the bytes first.
            sodium_free(memory?.bytes)
            memory = nil
        }
    }

    /// `true` after ``wipe()``.
    package var isWiped: Bool { memory.withLock { $0 == nil } }

    deinit { wipe() }
}
