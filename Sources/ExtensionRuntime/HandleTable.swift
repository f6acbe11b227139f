// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Objects that an extension holds by numbers, not by pointers: one that was released, or never was, is found out instead of
/// being dereferenced, and so is one that two threads use at once.
///
/// Using an object takes no lock: its slot is claimed with one atomic exchange and given back with another. A handle looks
/// like a pointer to C, and would be a pointer that no program may have (bits 56 to 63 hold the table's tag).
final class HandleTable<Object: AnyObject>: @unchecked Sendable {
    // Sendable: chunks are allocated once, never freed, and published by `chunkCount`. The object of a slot is written under
    // the lock while the slot is free, and read only by the one who has claimed the slot.

    /// Why a handle leads to no object.
    enum Problem: Error, Equatable {
        /// It is NULL, or this table never gave it out.
        case unknown
        /// Its object was released.
        case released(owner: UInt)
        /// Another thread is using its object.
        case inUse(owner: UInt)
    }

    /// `state` is the generation and, in its lowest bit, whether a thread is using the object. The generation is odd while
    /// there is an object.
    private struct Slot: ~Copyable {
        let state = Atomic<UInt64>(0)
        /// Of the last object.
        let owner = Atomic<UInt>(0)
        var object: Unmanaged<Object>?
    }

    private static var chunkSize: Int { 1024 }
    private static var maximumChunks: Int { 1024 }
    /// The most objects at a time.
    static var maximum: Int { chunkSize * maximumChunks }

    private let tag: UInt64
    private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Slot>?>
    private let chunkCount = Atomic<Int>(0)
    private let free = Mutex<[Int]>([])

    /// - Parameter tag: Tells the handles of this table from those of others; not 0.
    init(tag: UInt8) {
        self.tag = UInt64(tag)
        chunks = .allocate(capacity: Self.maximumChunks)
        chunks.initialize(repeating: nil, count: Self.maximumChunks)
    }

    /// Keeps an object until ``remove(_:)``; `nil` if there are too many.
    ///
    /// - Parameter owner: What is told of it when it is misused, also once it is gone.
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

    /// Lends an object to a body.
    func with<Result>(_ handle: OpaquePointer?, _ body: (Object) -> Result) throws(Problem) -> Result {
        let (slot, generation) = try claim(handle)
        defer { slot.pointee.state.store(generation << 1, ordering: .releasing) }
        guard let object = slot.pointee.object else { throw .unknown }
        return object._withUnsafeGuaranteedRef(body)
    }

    /// Gives up an object.
    func remove(_ handle: OpaquePointer?) throws(Problem) {
        let (slot, generation) = try claim(handle)
        slot.pointee.object?.release()
        slot.pointee.object = nil
        slot.pointee.state.store((generation + 1) << 1, ordering: .releasing)
        let number = Int(truncatingIfNeeded: UInt64(UInt(bitPattern: handle)) & Self.numberMask)
        free.withLock { $0.append(number) }
    }

    // The bits of a handle: 20 of the slot's number, 36 of its generation, 8 of the tag.
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
            // Of a generation that is yet to come nothing was ever given out.
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

    /// Adds a chunk of free slots; under the lock.
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
