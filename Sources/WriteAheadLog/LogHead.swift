// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The note of the last durable entry (`journal.head`): two slots of one disk sector each, written in turn after every
/// group, so that a slot is never overwritten while it is the newest.
///
/// The note is not synchronised with each group: it never says more than what is durable, and the death of the process
/// does not take it away. docs/WRITE-AHEAD-LOG.md says what that is worth when the power fails.
struct LogHead: Sendable {
    /// The length of a slot, in bytes: the smallest unit a disk writes whole.
    static let slotBytes = 512
    private static let formatVersion: UInt32 = 1
    private static let magic: [UInt8] = [0x53, 0x4C, 0x4A, 0x48, 0x45, 0x41, 0x44, 0x0A]  // "SLJHEAD\n"

    private let file: any LogFile
    private let store: StoreIdentifier
    private var slot: Int

    /// Goes on with a note that was read.
    init(file: any LogFile, store: StoreIdentifier, slot: Int) {
        self.file = file
        self.store = store
        self.slot = slot
    }

    /// Makes a note where there is none, or none that can be read; durable when this returns.
    init(
        creatingIn folder: String, files: some LogFiles, store: StoreIdentifier, sequence: UInt64
    ) throws(LogFileError) {
        let contents = Self.encode(sequence, store)
        file = try files.createWhole(
            folder + "/" + LogFileNames.head, contents: contents + contents, in: folder)
        self.store = store
        slot = 0
    }

    /// Writes down that all entries up to a number are durable.
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

    /// The number in a slot; `nil` if it does not hold one of this store.
    static func decode(_ bytes: [UInt8], _ store: StoreIdentifier) -> UInt64? {
        guard bytes.count == slotBytes else { return nil }
        let sequence = bytes.withUnsafeBytes { LittleEndian.load(UInt64.self, at: 28, from: $0) }
        return sequence <= LogFileNames.maximumSequence && bytes == encode(sequence, store) ? sequence : nil
    }
}
