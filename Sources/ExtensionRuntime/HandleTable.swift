// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A table of the objects that an extension refers to by handles instead of pointers. The table
/// detects handles that are unknown or released, and objects that two threads use at the same time;
/// it dereferences none of these.
///
/// Using an object takes no lock: its slot is claimed with an atomic compare-and-exchange and
/// released with a store. In C a handle looks like a pointer, but it is never a valid address: bits
/// 56 to 63 contain the table's tag.
final class HandleTable<Object: AnyObject>: @unchecked Sendable {
    // Sendable: chunks are allocated once, never freed, and published by `chunkCount`. A slot's
    // object is written under the lock while the slot is free. Only the thread that has claimed the
    // slot reads it.

    /// The reason why a handle has no usable object.
    enum Problem: Error, Equatable {
        /// The handle is NULL, or this table never returned it.
        case unknown
        /// The object was released.
        case released(owner: UInt)
        /// Another thread is using the object.
        case inUse(owner: UInt)
    }

    /// The state of one object. `state` contains the generation and, in its lowest bit, 1 while a
    /// thread is using the object. The generation is odd while the slot contains an object.
    private struct Slot: ~Copyable {
        let state = Atomic<UInt64>(0)
        /// The owner of the last object.
        let owner = Atomic<UInt>(0)
        var object: Unmanaged<Object>?
    }

    private static var chunkSize: Int { 1024 }
    private static var maximumChunks: Int { 1024 }
    /// The maximum number of objects.
    static var maximum: Int { chunkSize * maximumChunks }

    private let tag: UInt64
    private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Slot>?>
    private let chunkCount = Atomic<Int>(0)
    private let free = Mutex<[Int]>([])

    /// Creates an empty table.
    ///
    /// - Parameter tag: The tag that distinguishes this table's handles from others; not 0.
    init(tag: UInt8) {
        self.tag = UInt64(tag)
        chunks = .allocate(capacity: Self.maximumChunks)
        chunks.initialize(repeating: nil, count: Self.maximumChunks)
    }

    /// Stores an object until ``remove(_:)`` and returns its handle; `nil` if there are too many
    /// objects.
    ///
    /// - Parameter owner: A value that is reported if the handle is misused, even after the object
    ///   was released.
    func insert(_ object: Object, owner: UInt = 0) -> OpaquePointer? {
        free.withLock { free in
            if free.isEmpty, !grow(&free) { return nil }
            guard let number = free.popLast(), let slot = slot(number) else { return nil }
            slot.pointee.object = Unmanaged.passRetained(object)
            slot.pointee.owner.store(owner, ordering: .relaxed)
            let generation = (slot.pointee.state.load(ordering: .relaxed) >> 1) + 1
            slot.pointee.state.store(generation << 1, ordering: .releasing)
            return OpaquePointer(bitPattern: UInt(handle(number, generation)))
        }
    }

    /// Calls a closure with exclusive access to an object.
    func with<Result>(_ handle: OpaquePointer?, _ body: (Object) -> Result) throws(Problem) -> Result {
        let (slot, generation) = try claim(handle)
        defer { slot.pointee.state.store(generation << 1, ordering: .releasing) }
        guard let object = slot.pointee.object else { throw .unknown }
        return object._withUnsafeGuaranteedRef(body)
    }

    /// Releases an object.
    func remove(_ handle: OpaquePointer?) throws(Problem) {
        let (slot, generation) = try claim(handle)
        slot.pointee.object?.release()
        slot.pointee.object = nil
        slot.pointee.state.store((generation + 1) << 1, ordering: .releasing)
        let number = Int(truncatingIfNeeded: UInt64(UInt(bitPattern: handle)) & Self.numberMask)
        free.withLock { $0.append(number) }
    }

    // The bits of a handle: 20 for the slot's number, 36 for the generation, 8 for the tag.
    private static var numberMask: UInt64 { 0xF_FFFF }
    private static var generationMask: UInt64 { 0xF_FFFF_FFFF }

    private func handle(_ number: Int, _ generation: UInt64) -> UInt64 {
        tag << 56 | (generation & Self.generationMask) << 20 | UInt64(number)
    }

    private func claim(
        _ handle: OpaquePointer?
    ) throws(Problem) -> (slot: UnsafeMutablePointer<Slot>, generation: UInt64) {
        let bits = UInt64(UInt(bitPattern: handle))
        let number = Int(truncatingIfNeeded: bits & Self.numberMask)
        guard bits >> 56 == tag, let slot = slot(number) else { throw .unknown }
        let seen = slot.pointee.state.load(ordering: .acquiring)
        let generation = seen >> 1
        let named = bits >> 20 & Self.generationMask
        guard named == generation & Self.generationMask, generation & 1 == 1 else {
            // A later generation has no handles yet.
            guard named & 1 == 1, named < generation & Self.generationMask else { throw .unknown }
            throw .released(owner: slot.pointee.owner.load(ordering: .relaxed))
        }
        let (isClaimed, now) = slot.pointee.state.compareExchange(
            expected: generation << 1, desired: generation << 1 | 1, ordering: .acquiring)
        guard isClaimed else {
            let owner = slot.pointee.owner.load(ordering: .relaxed)
            throw now >> 1 == generation ? .inUse(owner: owner) : .released(owner: owner)
        }
        return (slot, generation)
    }

    private func slot(_ number: Int) -> UnsafeMutablePointer<Slot>? {
        let (chunk, place) = number.quotientAndRemainder(dividingBy: Self.chunkSize)
        guard chunk < chunkCount.load(ordering: .acquiring) else { return nil }
        return chunks[chunk]?.advanced(by: place)
    }

    /// Adds a chunk of free slots. Must be called under the lock.
    private func grow(_ free: inout [Int]) -> Bool {
        let count = chunkCount.load(ordering: .relaxed)
        guard count < Self.maximumChunks else { return false }
        let chunk = UnsafeMutablePointer<Slot>.allocate(capacity: Self.chunkSize)
        for place in 0..<Self.chunkSize { chunk.advanced(by: place).initialize(to: Slot()) }
        chunks[count] = chunk
        chunkCount.store(count + 1, ordering: .releasing)
        let first = count * Self.chunkSize
        free.append(contentsOf: (first..<first + Self.chunkSize).reversed())
        return true
    }
}
