// SPDX-License-Identifier: Apache-2.0
import CSodium
import Glibc
import ItemRecord
import Synchronization
import SystemSupport
import WriteAheadLog

/// The file of a protected index: a header, and encrypted records, which are only appended.
///
/// ```swift
/// let log = try SealedLog.create("…/a.sealed", in: folder, scope, .complete, vault: vault, master: key) { _ in }
/// try log.append(Array("a record".utf8))  // durable
/// log.lock()
/// try log.unlock(master: key)
/// let page = try log.records(maximumBytes: 1 << 20)
/// ```
///
/// A record is sealed together with the identifier of the file and its number, from 0. So a record
/// that was moved, repeated or exchanged cannot be read. While the file is locked, an index of the
/// class `completeUnlessOpen` accepts records for its public key (a sealed box); their sender is
/// not authenticated.
///
/// A frame is the length of the body (4 bytes), its kind (1), a CRC-32C of the body (4), a CRC-32C
/// of all that together with the identifier and the number (4), and the body. Files of version 1
/// have no checksum of the body. A last frame that is not whole was never acknowledged, and the
/// next append overwrites it. A frame is not whole either if its body has another checksum and 16
/// zero bytes in a row: a file system grew the file without all of its content.
///
/// May be used from any thread. All functions block.
package final class SealedLog: Sendable {
    /// The path of the file.
    package let path: String
    /// The index and its class.
    package let header: SealedLogHeader
    /// The bytes of the header, which each donation compares with those in the file.
    private let headerBytes: [UInt8]
    private let state: Mutex<State>
    /// The keys have a lock of their own, so that ``lock()`` does not wait for an append.
    private let keys: Mutex<SealedLogHeader.Keys?>
    /// The file at the path when this object got it; `nil` if that is unknown.
    private let identity: Identity?

    /// The identity of a file, which a file that replaces it does not have, and its size.
    private struct Identity {
        var device: UInt64
        var number: UInt64
        /// In bytes.
        var size: Int

        init?(of path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int(status.st_size))
        }
    }

    private struct State {
        let file: any LogFile
        /// The end of the last whole frame, in bytes; before the scan, the end of the header.
        var end: Int
        /// `true` if bytes follow the last whole frame.
        var hasTail = false
        /// `true` if the bytes after the last whole frame come from a failed append. They may look
        /// like a whole frame.
        var hasFailed = false
        /// The number of frames.
        var count: UInt64
        /// The checksum of the last frame's head; 0 without frames.
        var checksum: UInt32 = 0
        /// The folder to synchronise, because the file's name in it is not durable yet; `nil`
        /// normally.
        var folder: (path: String, files: any LogFiles)?
        /// The reason why nothing can ever be appended; `nil` normally.
        var failure: ProtectionError?
        /// `true` once ``SealedLog/scan(_:)`` has found the end.
        var isScanned = true
    }

    /// The suffix of a file name.
    package static let suffix = ".sealed"
    /// The largest record in bytes: the limit of one entry of the write-ahead log.
    package static let maximumRecordBytes = LogEntry.maximumBytes

    fileprivate enum Kind: UInt8 {
        /// Encrypted with the key of the file.
        case sealed = 1
        /// Encrypted for the public key of the file.
        case boxed = 2
    }
    private static let maximumBodyBytes = maximumRecordBytes + 256
    /// A run of this many zero bytes proves that a body was not written: an encrypted body contains
    /// one with a probability of about 2^-128.
    private static let zeroRun = 16
    /// The size of the pieces in which frames are written by ``create``, in bytes.
    private static let pieceBytes = 1 << 20

    /// - Parameter identity: The identity of the file at the path, read before the file was opened
    ///   or named. If another program replaces the file in between, ``isInPlace`` is `false`.
    private init(
        path: String, _ identity: Identity?, header: SealedLogHeader, state: State, keys: SealedLogHeader.Keys? = nil
    ) {
        self.path = path
        self.header = header
        headerBytes = header.encoded
        self.state = Mutex(state)
        self.keys = Mutex(keys)
        self.identity = identity
    }

    /// `true` if the file still has its path and its records, so that the next opening finds the
    /// same records. `false` if the file was replaced or removed, or if a backup program has
    /// written another version into it: one of another length, or with another header. Records are
    /// only appended.
    package var isInPlace: Bool {
        guard let identity else { return true }
        return state.withLock { state in
            guard let found = Identity(of: path), found.device == identity.device, found.number == identity.number
            else { return false }
            if state.isScanned, found.size < state.end || found.size > state.end && !state.hasTail { return false }
            return (try? state.file.read(at: 0, count: headerBytes.count)) == headerBytes
        }
    }

    /// `true` if only this object knows that the file may lose its name by a power failure, or that
    /// the bytes of a failed append follow its records.
    package var mustStayOpen: Bool { state.withLock { $0.folder != nil || $0.hasFailed } }

    // MARK: Creating and opening

    /// Creates the file with its first records, in place of an earlier file. After a crash, either
    /// file is there, whole. The keys of the replaced file are overwritten.
    ///
    /// - Parameters:
    ///   - path: The path of the file, in `folder`.
    ///   - version: The format of the file; tests write the earlier one.
    ///   - fill: Appends the first records.
    /// - Returns: The file, unlocked. If its name could not be made durable, the next append tries
    ///   again.
    /// - Throws: ``ProtectionError``; then the earlier file is in place.
    package static func create(
        _ path: String, in folder: String, _ scope: IndexScope, _ protection: ProtectionClass,
        vault: VaultIdentifier, master: SecretKey, files: any LogFiles = SystemLogFiles(),
        version: UInt8 = SealedLogHeader.currentVersion,
        filling fill: ((_ append: ([UInt8]) throws(ProtectionError) -> Void) throws(ProtectionError) -> Void)
    ) throws(ProtectionError) -> SealedLog {
        let (header, keys) = try SealedLogHeader.create(
            scope, protection, vault: vault, master: master, version: version)
        let temporary = path + LogFileNames.unfinishedSuffix
        let replaced = try? SealedLog.open(path, files: files)
        var (count, end, written, checksum) = (UInt64(0), 0, 0, UInt32(0))
        let identity: Identity?
        let file = try onFiles { () throws(LogFileError) in try files.open(temporary, for: .create) }
        do throws(ProtectionError) {
            var piece = header.encoded
            func flush() throws(ProtectionError) {
                try onFiles { () throws(LogFileError) in try file.writeAll(piece, at: written) }
                written += piece.count
                piece.removeAll(keepingCapacity: true)
            }
            try fill { (record: [UInt8]) throws(ProtectionError) in
                let frame = try header.frame(record, number: count, keys: keys)
                piece += frame
                checksum = header.checksum(ofFrame: frame)
                count += 1
                if piece.count >= pieceBytes { try flush() }
            }
            try flush()
            end = written
            try onFiles { () throws(LogFileError) in
                try file.synchronize()
            }
            identity = Identity(of: temporary)
            try onFiles { () throws(LogFileError) in try files.rename(temporary, to: path) }
        } catch {
            keys.wipe()
            try? files.remove(temporary)
            throw error
        }
        var state = State(file: file, end: end, count: count, checksum: checksum)
        do throws(LogFileError) {
            try files.synchronizeFolder(folder)
            // The file has another name now or none, and may be in a backup; its keys are useless
            // then.
            replaced?.destroyKeys()
        } catch {
            // The file has its name, so every later record belongs there. After a power failure,
            // the replaced file may be back, and needs its keys.
            state.folder = (folder, files)
        }
        return SealedLog(path: path, identity, header: header, state: state, keys: keys)
    }

    /// Opens a file, locked.
    ///
    /// - Parameter isWritable: `false` to open it for reading, also where nothing can be written.
    /// - Throws: ``ProtectionError``. Damage of the header; damage of a record is found by
    ///   ``records(from:maximumBytes:)``.
    package static func open(
        _ path: String, files: any LogFiles = SystemLogFiles(), isWritable: Bool = true
    ) throws(ProtectionError) -> SealedLog {
        let identity = Identity(of: path)
        let file = try onFiles { () throws(LogFileError) in try files.open(path, for: isWritable ? .update : .read) }
        let start = try onFiles { () throws(LogFileError) in
            try file.read(at: 0, count: SealedLogHeader.maximumBytes)
        }
        let header = try SealedLogHeader(decoding: start, path: path)
        let state = State(file: file, end: header.encoded.count, count: 0, isScanned: false)
        return SealedLog(path: path, identity, header: header, state: state)
    }

    /// Finds the end of the last whole frame, if that is not known. Each frame costs a read of its
    /// head, and the last one of its body, so a file that is only listed is not scanned.
    private func scan(_ state: inout State) throws(ProtectionError) {
        guard !state.isScanned else { return }
        let file = state.file
        let size = try onFiles { () throws(LogFileError) in try file.size() }
        frames: while true {
            switch try Self.frame(at: state.end, number: state.count, size, file, header) {
            case .whole(_, let length, let checksum, let ofBody):
                let start = state.end + header.frameHeadBytes
                if start + length == size, let ofBody {
                    // The last frame may be torn.
                    let body = try onFiles { () throws(LogFileError) in try file.read(at: start, count: length) }
                    guard CRC32C.of(body) == ofBody || !Self.hasZeroRun(body) else { break frames }
                }
                state.end = start + length
                state.count += 1
                state.checksum = checksum
            case .end: break frames
            case .damaged:
                state.failure = state.failure ?? damagedFrame(state.count)
                break frames
            }
        }
        (state.hasTail, state.isScanned) = (size > state.end, true)
    }

    private enum Frame {
        /// A whole frame with its two checksums. A frame of version 1 has no checksum of its body.
        case whole(Kind, length: Int, checksum: UInt32, ofBody: UInt32?)
        /// The file ends here, or with a frame that is not whole.
        case end
        case damaged
    }

    private static func frame(
        at offset: Int, number: UInt64, _ size: Int, _ file: any LogFile, _ header: SealedLogHeader
    ) throws(ProtectionError) -> Frame {
        let headBytes = header.frameHeadBytes
        let head = try onFiles { () throws(LogFileError) in try file.read(at: offset, count: headBytes) }
        guard head.count == headBytes else { return .end }
        let (length, ofBody, checksum) = head.withUnsafeBytes {
            (
                Int(LittleEndian.load(UInt32.self, at: 0, from: $0)), LittleEndian.load(UInt32.self, at: 5, from: $0),
                LittleEndian.load(UInt32.self, at: headBytes - 4, from: $0)
            )
        }
        guard checksum == header.frameChecksum(Array(head.dropLast(4)), number: number),
            let kind = Kind(rawValue: head[4]),
            length <= maximumBodyBytes
        else {
            // A crash may leave zeros where the file grew.
            return try isZero(from: offset, size, file) ? .end : .damaged
        }
        guard offset + headBytes + length <= size else { return .end }
        return .whole(kind, length: length, checksum: checksum, ofBody: header.checksBodies ? ofBody : nil)
    }

    private static func hasZeroRun(_ bytes: [UInt8]) -> Bool {
        var run = 0
        for byte in bytes {
            run = byte == 0 ? run + 1 : 0
            if run == zeroRun { return true }
        }
        return false
    }

    private static func isZero(from offset: Int, _ size: Int, _ file: any LogFile) throws(ProtectionError) -> Bool {
        guard size - offset <= maximumBodyBytes + 16 else { return false }
        let rest = try onFiles { () throws(LogFileError) in try file.read(at: offset, count: size - offset) }
        return rest.allSatisfy { $0 == 0 }
    }

    // MARK: Keys

    /// Opens the keys of the file.
    package func unlock(master: SecretKey) throws(ProtectionError) {
        // Locking the store wipes the master key first, then the keys of each file. Under the mutex
        // of the keys, this call either fails because the master key is already wiped, or its keys
        // are wiped afterwards.
        try keys.withLock { keys in
            Result { () throws(ProtectionError) in
                let opened = try header.keys(master: master, path: path)
                keys?.wipe()
                keys = opened
            }
        }.get()
    }

    /// Opens the keys of the file with the first of some master keys that fits.
    ///
    /// - Throws: The error of the first one.
    package func unlock(masters: [SecretKey]) throws(ProtectionError) {
        guard let first = masters.first else { throw .locked }
        do throws(ProtectionError) { try unlock(master: first) } catch {
            guard case .damaged = error else { throw error }
            for other in masters.dropFirst() where (try? unlock(master: other)) != nil { return }
            throw error
        }
    }

    /// `true` if a master key opens the keys of the file.
    package func isSealed(with master: SecretKey) -> Bool {
        guard let keys = try? header.keys(master: master, path: path) else { return false }
        keys.wipe()
        return true
    }

    /// Wipes the keys of the file. Waits for no operation on the file.
    package func lock() {
        keys.withLock { keys in
            keys?.wipe()
            keys = nil
        }
    }

    /// `true` if the keys are in memory.
    package var isUnlocked: Bool { keys.withLock { $0 != nil } }

    /// Wipes the keys and overwrites them in the file, so that no passphrase opens its records
    /// again. Errors are ignored, since the file is removed anyway.
    ///
    /// - Returns: `true` if the keys are overwritten durably.
    @discardableResult
    package func destroyKeys() -> Bool {
        lock()
        return state.withLock { state in
            state.failure = .damaged(path: path, detail: "its keys were destroyed")
            do throws(LogFileError) {
                try state.file.writeAll(header.destroyedKeys, at: header.keyOffset)
                try state.file.synchronize()
                return true
            } catch {
                return false
            }
        }
    }

    /// Reads the owner of a file that need not be whole.
    ///
    /// - Returns: `nil` if the file does not begin like a protected index.
    package static func claim(
        _ path: String, files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) -> SealedLogHeader.Claim? {
        let file = try onFiles { () throws(LogFileError) in try files.open(path, for: .read) }
        return SealedLogHeader.claim(
            try onFiles { () throws(LogFileError) in try file.read(at: 0, count: SealedLogHeader.maximumBytes) })
    }

    /// Overwrites the keys in a file that is not open, and that need not be whole.
    ///
    /// - Returns: `true` if the keys are overwritten durably.
    package static func destroyKeys(
        of claim: SealedLogHeader.Claim, at path: String, files: any LogFiles = SystemLogFiles()
    ) -> Bool {
        do throws(LogFileError) {
            let file = try files.open(path, for: .update)
            try file.writeAll([UInt8](repeating: 0, count: claim.keys.count), at: claim.keys.lowerBound)
            try file.synchronize()
            return true
        } catch {
            return false
        }
    }

    // MARK: Records

    /// The length of the file in bytes; 0 if it cannot be read.
    package var byteCount: Int { state.withLock { $0.isScanned ? $0.end : (try? $0.file.size()) ?? 0 } }

    /// Appends a record, durably.
    ///
    /// - Throws: ``ProtectionError/locked`` if the file is locked and its class is `complete`.
    ///   Nothing is appended then. After any error, the next append overwrites what this one wrote.
    package func append(_ record: [UInt8]) throws(ProtectionError) {
        try state.withLock { state in
            Result { () throws(ProtectionError) in
                try scan(&state)
                if let failure = state.failure { throw failure }
                let frame = try frame(record, number: state.count)
                do throws(LogFileError) {
                    if let folder = state.folder {
                        try folder.files.synchronizeFolder(folder.path)
                        state.folder = nil
                    }
                    if state.hasTail { try state.file.truncate(to: state.end) }
                    // The kernel may drop the pages of a failed synchronisation, so they are cut
                    // and written again. All before them is durable.
                    (state.hasTail, state.hasFailed) = (true, true)
                    try state.file.writeAll(frame, at: state.end)
                    try state.file.synchronize()
                } catch {
                    throw ProtectionError(error)
                }
                (state.hasTail, state.hasFailed) = (false, false)
                state.end += frame.count
                state.count += 1
                state.checksum = header.checksum(ofFrame: frame)
            }
        }.get()
    }

    /// Returns the frame of a record, encrypted with the keys, or for the public key while the file
    /// is locked.
    private func frame(_ record: [UInt8], number: UInt64) throws(ProtectionError) -> [UInt8] {
        do throws(ProtectionError) {
            return try header.frame(record, number: number, keys: keys.withLock { $0 })
        } catch {
            // A lock may have wiped the keys since.
            guard case .locked = error, header.publicKey != nil else { throw error }
            return try header.frame(record, number: number, keys: nil)
        }
    }

    /// Some of the records, in order.
    package struct Page: Sendable {
        /// The records.
        package var records: [[UInt8]] = []
        /// A sentence for each record that cannot be read, and for what follows a damaged frame.
        package var findings: [String] = []
        /// The start of the next page; `nil` after the last page.
        package var next: Position?
    }

    /// A position between two records.
    package struct Position: Hashable, Sendable {
        /// The offset of the next frame in the file, in bytes.
        var offset: Int
        /// The number of records before the position.
        var number: UInt64
        /// The checksum of the head of the frame before the position; 0 for the first position.
        var checksum: UInt32

        /// Creates a position, for the manifest of an image.
        package init(offset: Int, number: UInt64, checksum: UInt32) {
            (self.offset, self.number, self.checksum) = (offset, number, checksum)
        }

        /// The offset in the file, in bytes.
        package var byteOffset: Int { offset }
    }

    /// The position after the last whole record.
    package func endOfRecords() throws(ProtectionError) -> Position {
        let known = try scanned()
        return Position(offset: known.end, number: known.count, checksum: known.checksum)
    }

    /// The state after a scan.
    private func scanned() throws(ProtectionError) -> State {
        try state.withLock { state in
            Result { () throws(ProtectionError) in
                try scan(&state)
                return state
            }
        }.get()
    }

    /// The largest number of sentences of ``problems()``.
    private static let maximumProblems = 100

    /// Reads the whole file, and returns a sentence for each problem that is visible without the
    /// keys: a record whose checksum is wrong, and what follows a damaged frame.
    package func problems() throws(ProtectionError) -> [String] {
        let known = try scanned()
        var problems: [String] = []
        var (offset, number) = (header.encoded.count, UInt64(0))
        while number < known.count, problems.count < Self.maximumProblems {
            guard
                case .whole(_, let length, _, let ofBody) = try Self.frame(
                    at: offset, number: number, known.end, known.file, header)
            else {
                // The frame was damaged after the scan.
                problems.append(damagedFrame(number).description)
                return problems
            }
            let start = offset + header.frameHeadBytes
            if let ofBody {
                let body = try onFiles { () throws(LogFileError) in try known.file.read(at: start, count: length) }
                if CRC32C.of(body) != ofBody { problems.append(unreadable(number)) }
            }
            (offset, number) = (start + length, number + 1)
        }
        if case .damaged = known.failure, let failure = known.failure { problems.append(failure.description) }
        return problems
    }

    private func damagedFrame(_ number: UInt64) -> ProtectionError {
        .damaged(path: path, detail: "its record \(number + 1) cannot be read, nor what follows")
    }

    /// The sentence for a record that cannot be read.
    private func unreadable(_ number: UInt64) -> String {
        "Record \(number + 1) of \(path) was changed and is not read."
    }

    /// `true` if the file still has the records before a position. An older copy of the file does
    /// not have them, even if it has grown to the same length since.
    package func contains(_ position: Position) throws(ProtectionError) -> Bool {
        let known = try scanned()
        guard position.number <= known.count else { return false }
        var found = Position(offset: header.encoded.count, number: 0, checksum: 0)
        while found.number < position.number {
            guard
                case .whole(_, let length, let checksum, _) = try Self.frame(
                    at: found.offset, number: found.number, known.end, known.file, header)
            else { return false }
            found = Position(
                offset: found.offset + header.frameHeadBytes + length, number: found.number + 1, checksum: checksum)
        }
        return found == position
    }

    /// `true` if a damaged frame before a position hides whether the file has the records before
    /// the position.
    package func isDamaged(before position: Position) throws(ProtectionError) -> Bool {
        let known = try scanned()
        guard case .damaged = known.failure else { return false }
        return known.count < position.number
    }

    /// Reads a page of records.
    ///
    /// - Parameters:
    ///   - position: The start; `nil` for the first record.
    ///   - maximumBytes: The size at which the page ends. It has at least one record.
    /// - Throws: ``ProtectionError/locked``.
    package func records(from position: Position? = nil, maximumBytes: Int) throws(ProtectionError) -> Page {
        let known = try scanned()
        let (file, count, end, failure) = (known.file, known.count, known.end, known.failure)
        guard let keys = keys.withLock({ $0 }) else { throw .locked }
        var place = position ?? Position(offset: header.encoded.count, number: 0, checksum: 0)
        var page = Page()
        var bytes = 0
        while place.number < count, bytes < maximumBytes {
            guard
                case .whole(let kind, let length, let checksum, _) = try Self.frame(
                    at: place.offset, number: place.number, end, file, header)
            else {
                // The frame was damaged after the scan.
                page.findings.append(damagedFrame(place.number).description)
                return page
            }
            let start = place.offset + header.frameHeadBytes
            let sealed = try onFiles { () throws(LogFileError) in try file.read(at: start, count: length) }
            if let record = try header.record(sealed, kind, number: place.number, keys) {
                page.records.append(record)
            } else {
                page.findings.append(unreadable(place.number))
            }
            place = Position(offset: start + length, number: place.number + 1, checksum: checksum)
            bytes += header.frameHeadBytes + length
        }
        page.next = place.number < count ? place : nil
        if page.next == nil, case .damaged = failure { page.findings += [failure?.description].compactMap(\.self) }
        return page
    }
}

/// Converts an error of a file operation.
private func onFiles<Value>(
    _ body: () throws(LogFileError) -> Value
) throws(ProtectionError) -> Value {
    do throws(LogFileError) { return try body() } catch { throw ProtectionError(error) }
}

extension SealedLogHeader {
    /// The bytes that bind a record to its place: the identifier of the file and the number.
    private func place(_ number: UInt64) -> [UInt8] {
        var bytes = identifier.bytes
        LittleEndian.append(number, to: &bytes)
        return bytes
    }

    /// `true` if frames have a checksum of their body.
    fileprivate var checksBodies: Bool { version > 1 }

    /// The length of a frame before its body, in bytes.
    fileprivate var frameHeadBytes: Int { checksBodies ? 13 : 9 }

    fileprivate func frameChecksum(_ head: [UInt8], number: UInt64) -> UInt32 { CRC32C.of(place(number) + head) }

    /// The checksum of its head that a frame contains.
    fileprivate func checksum(ofFrame frame: [UInt8]) -> UInt32 {
        frame.withUnsafeBytes { LittleEndian.load(UInt32.self, at: frameHeadBytes - 4, from: $0) }
    }

    /// Returns the frame of a record.
    fileprivate func frame(_ record: [UInt8], number: UInt64, keys: Keys?) throws(ProtectionError) -> [UInt8] {
        guard record.count <= SealedLog.maximumRecordBytes else {
            throw .tooLarge(bytes: record.count, limit: SealedLog.maximumRecordBytes)
        }
        let kind: SealedLog.Kind
        let body: [UInt8]
        if let keys {
            kind = .sealed
            body = try record.withUnsafeBytes { bytes in
                Result { () throws(ProtectionError) in
                    try Sealing.seal(bytes, with: keys.records, context: place(number))
                }
            }.get()
        } else {
            guard let publicKey else { throw .locked }
            guard SecretKey.isReady else { throw .noMemory }
            kind = .boxed
            var isSealed = false
            let plain = place(number) + record
            body = [UInt8](unsafeUninitializedCapacity: plain.count + Int(crypto_box_sealbytes())) { buffer, count in
                guard let start = buffer.baseAddress else { return }
                count = plain.count + Int(crypto_box_sealbytes())
                isSealed = crypto_box_seal(start, plain, UInt64(plain.count), publicKey) == 0
            }
            guard isSealed else {
                throw .file("A donation cannot be encrypted: the public key of its index is invalid.")
            }
        }
        var frame: [UInt8] = []
        frame.reserveCapacity(frameHeadBytes + body.count)
        LittleEndian.append(UInt32(clamping: body.count), to: &frame)
        frame.append(kind.rawValue)
        if checksBodies { LittleEndian.append(CRC32C.of(body), to: &frame) }
        LittleEndian.append(frameChecksum(frame, number: number), to: &frame)
        return frame + body
    }

    /// Opens the body of a frame; `nil` if it does not belong here.
    fileprivate func record(
        _ body: [UInt8], _ kind: SealedLog.Kind, number: UInt64, _ keys: Keys
    ) throws(ProtectionError) -> [UInt8]? {
        guard kind == .boxed else {
            return try body.withUnsafeBytes { bytes in
                Result { () throws(ProtectionError) in
                    try Sealing.open(bytes, with: keys.records, context: place(number))
                }
            }.get()
        }
        let overhead = Int(crypto_box_sealbytes())
        guard let publicKey, let key = keys.donations, body.count >= overhead else { return nil }
        return try key.use { (key: UnsafePointer<UInt8>) throws(ProtectionError) -> [UInt8]? in
            var isAuthentic = false
            let plain = [UInt8](unsafeUninitializedCapacity: body.count - overhead) { buffer, count in
                isAuthentic = crypto_box_seal_open(buffer.baseAddress, body, UInt64(body.count), publicKey, key) == 0
                count = isAuthentic ? body.count - overhead : 0
            }
            let place = place(number)
            return isAuthentic && plain.starts(with: place) ? Array(plain.dropFirst(place.count)) : nil
        }
    }
}
