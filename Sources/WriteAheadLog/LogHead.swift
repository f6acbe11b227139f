// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The note of the last durable entry (`journal.head`). The file has two slots of one disk sector
/// each. Groups write to the slots alternately, so that the newest one is never overwritten.
///
/// The note is not synchronized with each group. It never claims more than what is durable, and it
/// survives if the process is killed. docs/WRITE-AHEAD-LOG.md describes its value after a power
/// failure.
struct LogHead: Sendable {
    /// The length of a slot, in bytes: the smallest unit that a disk writes atomically.
    static let slotBytes = 512
    private static let formatVersion: UInt32 = 1
    private static let magic: [UInt8] = [0x53, 0x4C, 0x4A, 0x48, 0x45, 0x41, 0x44, 0x0A]  // "SLJHEAD\n"

    private let file: any LogFile
    private let store: StoreIdentifier
    private var slot: Int

    /// Uses an existing note.
    init(file: any LogFile, store: StoreIdentifier, slot: Int) {
        self.file = file
        self.store = store
        self.slot = slot
    }

    /// Creates a note, for use if none exists or none is readable. When the initializer returns,
    /// the note is durable.
    init(
        creatingIn folder: String, files: some LogFiles, store: StoreIdentifier, sequence: UInt64
    ) throws(LogFileError) {
        let contents = Self.encode(sequence, store)
        file = try files.createWhole(
            folder + "/" + LogFileNames.head, contents: contents + contents, in: folder)
        self.store = store
        slot = 0
    }

    /// Records that all entries up to a number are durable.
    mutating func note(_ sequence: UInt64) throws(LogFileError) {
        try file.writeAll(Self.encode(sequence, store), at: slot * Self.slotBytes)
        slot = 1 - slot
    }

    /// Makes the note itself durable.
    func synchronize() throws(LogFileError) { try file.synchronize() }

    private static func encode(_ sequence: UInt64, _ store: StoreIdentifier) -> [UInt8] {
        var bytes = magic
        bytes.reserveCapacity(slotBytes)
        LittleEndian.append(formatVersion, to: &bytes)
        bytes += store.bytes
        LittleEndian.append(sequence, to: &bytes)
        bytes += [UInt8](repeating: 0, count: slotBytes - 4 - bytes.count)
        LittleEndian.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Returns the number in a slot; `nil` if the slot does not hold a note of this store.
    static func decode(_ bytes: [UInt8], _ store: StoreIdentifier) -> UInt64? {
        guard bytes.count == slotBytes else { return nil }
        let sequence = bytes.withUnsafeBytes { LittleEndian.load(UInt64.self, at: 28, from: $0) }
        return sequence <= LogFileNames.maximumSequence && bytes == encode(sequence, store) ? sequence : nil
    }
}
