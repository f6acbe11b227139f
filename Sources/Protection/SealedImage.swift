// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import WriteAheadLog

/// The encrypted file with the image of an index that was made from sealed logs. It is a cache: a
/// file that is missing, damaged or outdated costs only time.
///
/// ```swift
/// let written = try SealedImage.write(to: path, in: folder, manifest, key, vault: vault, master: master, byte: pages)
/// try written.synchronize()
/// try written.publish()
/// let image = try SealedImage.open(path, vault: vault, master: master)
/// try image?.read { bytes, offset in … }
/// ```
///
/// Format, numbers in little endian: the magic number, the version, the identifier of the store's
/// keys (16 bytes), the random identifier of the file (16), the key of the file, sealed with the
/// master key (72), the length of the sealed manifest (4), the sealed manifest, and the sealed
/// pieces. The manifest states the length of the image; all pieces but the last have the same
/// length. Each part is sealed together with the identifier of the file and its number, so that
/// nothing can be moved, left out or exchanged.
package struct SealedImage: Sendable {
    /// The content of the file: the rule by which its index was made, and the position in each log
    /// up to which it contains the records.
    package struct Manifest: Hashable, Sendable {
        /// The rule; an image of another rule is outdated.
        package var rule: String
        /// The length of the image in bytes.
        package var byteCount: Int
        /// The positions by the identifiers of the files.
        package var logs: [VaultIdentifier: SealedLog.Position]

        package init(rule: String, byteCount: Int, logs: [VaultIdentifier: SealedLog.Position]) {
            (self.rule, self.byteCount, self.logs) = (rule, byteCount, logs)
        }
    }

    /// The content.
    package let manifest: Manifest
    private let path: String
    private let identifier: VaultIdentifier
    private let key: SecretKey
    private let file: any LogFile
    /// The position of the first piece, in bytes.
    private let start: Int

    private static let magic = Array("SLIMAGE1".utf8)
    private static let version: UInt8 = 2
    private static let keyOffset = magic.count + 1 + 2 * VaultIdentifier.byteCount
    private static let headBytes = keyOffset + SecretKey.sealedByteCount + 4
    private static let pieceBytes = 1 << 20
    private static let maximumManifestBytes = 64 << 10

    private static func context(_ identifier: VaultIdentifier, part: UInt64) -> [UInt8] {
        var bytes = magic + identifier.bytes
        LittleEndian.append(part, to: &bytes)
        return bytes
    }

    private static func head(_ vault: VaultIdentifier, _ identifier: VaultIdentifier) -> [UInt8] {
        magic + [version] + vault.bytes + identifier.bytes
    }

    // MARK: Writing

    /// A file that does not have its name yet.
    package struct Unfinished: Sendable {
        fileprivate let path: String
        fileprivate let folder: String
        fileprivate let file: any LogFile
        fileprivate let files: any LogFiles

        fileprivate var temporary: String { path + LogFileNames.unfinishedSuffix }

        /// Makes the content durable.
        package func synchronize() throws(ProtectionError) {
            do throws(LogFileError) { try file.synchronize() } catch { throw ProtectionError(error) }
        }

        /// Gives the file its name. The key of the replaced file is overwritten.
        package func publish() throws(ProtectionError) {
            do throws(LogFileError) {
                let replaced = try? files.open(path, for: .update)
                try files.rename(temporary, to: path)
                try files.synchronizeFolder(folder)
                if let replaced { SealedImage.overwriteKey(of: replaced) }
            } catch {
                throw ProtectionError(error)
            }
        }

        /// Overwrites the key and removes the file.
        package func discard() {
            SealedImage.overwriteKey(of: file)
            try? files.remove(temporary)
        }
    }

    /// Writes an image to a file without its name. Blocks.
    ///
    /// - Parameters:
    ///   - key: A new key. Once it is wiped, the writing fails.
    ///   - bytes: Returns the bytes at an offset.
    /// - Throws: ``ProtectionError``; then there is no file.
    package static func write(
        to path: String, in folder: String, _ manifest: Manifest, _ key: SecretKey, vault: VaultIdentifier,
        master: SecretKey, files: any LogFiles, bytes: (_ offset: Int, _ count: Int) -> [UInt8]
    ) throws(ProtectionError) -> Unfinished {
        let identifier = VaultIdentifier()
        let head = head(vault, identifier)
        var start = head + (try key.sealed(with: master, context: head))
        let sealedManifest = try seal(manifest.encoded, key, identifier, part: 0)
        LittleEndian.append(UInt32(clamping: sealedManifest.count), to: &start)
        start += sealedManifest
        let unfinished: Unfinished
        do throws(LogFileError) {
            let file = try files.open(path + LogFileNames.unfinishedSuffix, for: .create)
            unfinished = Unfinished(path: path, folder: folder, file: file, files: files)
        } catch {
            throw ProtectionError(error)
        }
        do throws(ProtectionError) {
            try append(start, to: unfinished.file, at: 0)
            var (offset, end, part) = (0, start.count, UInt64(1))
            while offset < manifest.byteCount {
                let piece = bytes(offset, min(pieceBytes, manifest.byteCount - offset))
                guard !piece.isEmpty else { throw ProtectionError.locked }
                let sealed = try seal(piece, key, identifier, part: part)
                try append(sealed, to: unfinished.file, at: end)
                offset += piece.count
                end += sealed.count
                part += 1
            }
        } catch {
            unfinished.discard()
            throw error
        }
        return unfinished
    }

    private static func append(_ bytes: [UInt8], to file: any LogFile, at offset: Int) throws(ProtectionError) {
        do throws(LogFileError) { try file.writeAll(bytes, at: offset) } catch { throw ProtectionError(error) }
    }

    private static func seal(
        _ bytes: [UInt8], _ key: SecretKey, _ identifier: VaultIdentifier, part: UInt64
    ) throws(ProtectionError) -> [UInt8] {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(ProtectionError) in
                try Sealing.seal(bytes, with: key, context: context(identifier, part: part))
            }
        }.get()
    }

    // MARK: Reading

    /// Opens the file at a path and reads its manifest.
    ///
    /// - Returns: `nil` if there is none, or if it is damaged or belongs to other keys.
    /// - Throws: ``ProtectionError/locked`` if the master key is wiped.
    package static func open(
        _ path: String, vault: VaultIdentifier, master: SecretKey, files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) -> SealedImage? {
        guard let file = try? files.open(path, for: .read), let start = try? file.read(at: 0, count: headBytes),
            start.count == headBytes, start.prefix(keyOffset).starts(with: magic + [version] + vault.bytes)
        else { return nil }
        let identifier = VaultIdentifier(
            bytes: Array(start[(keyOffset - VaultIdentifier.byteCount)..<keyOffset]))
        let length = start.withUnsafeBytes { Int(LittleEndian.load(UInt32.self, at: headBytes - 4, from: $0)) }
        let sealedKey = Array(start[keyOffset..<headBytes - 4])
        guard length <= maximumManifestBytes,
            let key = try SecretKey.open(sealedKey, with: master, context: head(vault, identifier)),
            let sealed = try? file.read(at: headBytes, count: length),
            let manifest = try piece(sealed, key, identifier, part: 0).flatMap(Manifest.init(decoding:))
        else { return nil }
        return SealedImage(
            manifest: manifest, path: path, identifier: identifier, key: key, file: file, start: headBytes + length)
    }

    private static func piece(
        _ sealed: [UInt8], _ key: SecretKey, _ identifier: VaultIdentifier, part: UInt64
    ) throws(ProtectionError) -> [UInt8]? {
        try sealed.withUnsafeBytes { bytes in
            Result { () throws(ProtectionError) in
                try Sealing.open(bytes, with: key, context: context(identifier, part: part))
            }
        }.get()
    }

    /// Reads the image in pieces. Blocks.
    ///
    /// - Parameter take: Gets a piece and its offset; returns `false` to end.
    /// - Returns: `true` if the whole image was read; `false` if it is damaged or was ended.
    /// - Throws: ``ProtectionError/locked`` after ``wipe()``.
    package func read(_ take: (_ bytes: [UInt8], _ offset: Int) -> Bool) throws(ProtectionError) -> Bool {
        var (offset, place, part) = (0, start, UInt64(1))
        while offset < manifest.byteCount {
            let length = min(Self.pieceBytes, manifest.byteCount - offset)
            guard let sealed = try? file.read(at: place, count: length + Sealing.overhead),
                let bytes = try Self.piece(sealed, key, identifier, part: part), bytes.count == length,
                take(bytes, offset)
            else { return false }
            offset += length
            place += sealed.count
            part += 1
        }
        return true
    }

    /// Wipes the key.
    package func wipe() { key.wipe() }

    // MARK: Removing

    /// Overwrites the keys in the image file and in its unfinished replacement, and removes both
    /// files.
    ///
    /// - Returns: `true` if there was a file.
    /// - Throws: ``ProtectionError`` if a file is still there.
    @discardableResult
    package static func destroy(
        _ path: String, in folder: String, files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) -> Bool {
        let wasThere = try destroyFile(path, in: folder, files)
        return try destroyUnfinished(path, in: folder, files: files) || wasThere
    }

    /// Overwrites the key in an unfinished file and removes the file. A crash may have left it.
    @discardableResult
    package static func destroyUnfinished(
        _ path: String, in folder: String, files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) -> Bool {
        try destroyFile(path + LogFileNames.unfinishedSuffix, in: folder, files)
    }

    private static func destroyFile(
        _ path: String, in folder: String, _ files: any LogFiles
    ) throws(ProtectionError) -> Bool {
        do throws(LogFileError) {
            if let file = try? files.open(path, for: .update) { overwriteKey(of: file) }
            try files.remove(path)
            try files.synchronizeFolder(folder)
            return true
        } catch {
            guard error.isNotFound else { throw ProtectionError(error) }
            return false
        }
    }

    fileprivate static func overwriteKey(of file: any LogFile) {
        guard let size = try? file.size(), size > keyOffset else { return }
        let count = min(SecretKey.sealedByteCount, size - keyOffset)
        try? file.writeAll([UInt8](repeating: 0, count: count), at: keyOffset)
        try? file.synchronize()
    }
}

extension SealedImage.Manifest {
    private static let (maximumRuleBytes, maximumLogs) = (4096, 1024)

    /// The bytes of the manifest: the length of the rule (2 bytes), the rule, the length of the
    /// image (8), and for each log its identifier (16), the offset (8), the number (8) and the
    /// checksum (4). Numbers are in little endian.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        let rule = Array(rule.utf8.prefix(Self.maximumRuleBytes))
        LittleEndian.append(UInt16(clamping: rule.count), to: &bytes)
        bytes += rule
        LittleEndian.append(UInt64(clamping: byteCount), to: &bytes)
        for (identifier, position) in logs.sorted(by: { $0.value.offset < $1.value.offset }) {
            bytes += identifier.bytes
            LittleEndian.append(UInt64(clamping: position.offset), to: &bytes)
            LittleEndian.append(position.number, to: &bytes)
            LittleEndian.append(position.checksum, to: &bytes)
        }
        return bytes
    }

    /// Decodes a manifest. Fails if the bytes are not one, and never traps.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count >= 10 else { return nil }
        let found = bytes.withUnsafeBytes { buffer -> Self? in
            let ruleBytes = Int(LittleEndian.load(UInt16.self, at: 0, from: buffer))
            guard bytes.count >= 10 + ruleBytes,
                let rule = String(validating: bytes[2..<2 + ruleBytes], as: UTF8.self),
                let count = Int(exactly: LittleEndian.load(UInt64.self, at: 2 + ruleBytes, from: buffer))
            else { return nil }
            var manifest = Self(rule: rule, byteCount: count, logs: [:])
            let entryBytes = VaultIdentifier.byteCount + 20
            guard (bytes.count - 10 - ruleBytes).isMultiple(of: entryBytes),
                (bytes.count - 10 - ruleBytes) / entryBytes <= Self.maximumLogs
            else { return nil }
            for offset in stride(from: 10 + ruleBytes, to: bytes.count, by: entryBytes) {
                let numbers = offset + VaultIdentifier.byteCount
                guard let end = Int(exactly: LittleEndian.load(UInt64.self, at: numbers, from: buffer)) else {
                    return nil
                }
                let number = LittleEndian.load(UInt64.self, at: numbers + 8, from: buffer)
                manifest.logs[VaultIdentifier(bytes: Array(bytes[offset..<numbers]))] = SealedLog.Position(
                    offset: end, number: number,
                    checksum: LittleEndian.load(UInt32.self, at: numbers + 16, from: buffer))
            }
            return manifest
        }
        guard let found else { return nil }
        self = found
    }
}
