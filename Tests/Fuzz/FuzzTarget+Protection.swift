// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Protection
import SystemSupport
import WriteAheadLog

extension FuzzTarget {
    /// The files of protected indexes. Their keys are fixed, so that a stored input can be checked
    /// again.
    static let protection = [
        FuzzTarget(
            name: "keyFile",
            samples: {
                let (file, key) = try MasterKeyFile.create(passphrase: Array("correct horse".utf8), cost: .least)
                let rotated = try MasterKeyFile(
                    vault: vault, key, previous: fixedKey(), keyringKey: fixedKey(), identifier: vault)
                return [file, rotated].map { Array($0.encoded.dropLast(checksumBytes)) }
            }
        ) { bytes in
            // The checksum is made right, so that mutations reach what follows it.
            var whole = bytes
            LittleEndian.append(CRC32C.of(bytes), to: &whole)
            guard let file = try? MasterKeyFile(decoding: whole, path: "key") else { return false }
            try require(file.encoded == whole, "other bytes")
            return true
        },
        FuzzTarget(name: "sealedLog", samples: { [try sampleLog(.complete), try sampleLog(.completeUnlessOpen)] }) {
            bytes in
            let files = MemoryLogFiles()
            try files.open(logPath, for: .create).writeAll(bytes, at: 0)
            _ = try? SealedLog.claim(logPath, files: files)
            guard let log = try? SealedLog.open(logPath, files: files) else { return false }
            let key = try fixedKey()
            guard (try? log.unlock(master: key)) != nil else { return false }
            let before = try records(of: log)
            try require(before.allSatisfy(sampleRecords.contains), "an invented record")
            // Damage in front of the end refuses records; they would be lost behind it.
            guard (try? log.append(lastRecord)) != nil else { return !before.isEmpty }
            try require(try records(of: log) == before + [lastRecord], "other records after an append")
            return true
        },
        FuzzTarget(
            name: "imageManifest",
            samples: { [manifest.encoded, SealedImage.Manifest(rule: "", byteCount: 0, logs: [:]).encoded] }
        ) { bytes in
            guard let found = SealedImage.Manifest(decoding: bytes) else { return false }
            try require(SealedImage.Manifest(decoding: found.encoded) == found, "another manifest")
            return true
        },
        FuzzTarget(name: "sealedImage", samples: { [try sampleImage(), try sampleImage()] }) { bytes in
            let files = MemoryLogFiles()
            try files.open(imagePath, for: .create).writeAll(bytes, at: 0)
            guard let image = try SealedImage.open(imagePath, vault: vault, master: fixedKey(), files: files) else {
                return false
            }
            try require(image.manifest == manifest, "an invented manifest")
            var content: [UInt8] = []
            let isWhole = try image.read { piece, offset in
                content += piece
                return offset + piece.count == content.count
            }
            try require(!isWhole || content == imageContent, "an invented image")
            return isWhole
        },
    ]

    private static let checksumBytes = 4
    private static let (folder, logPath, imagePath) = ("protected", "protected/a.sealed", "protected/image")
    private static let vault = VaultIdentifier(bytes: [UInt8](repeating: 5, count: VaultIdentifier.byteCount))
    private static let scope = IndexScope(bundle: "com.example.health", index: "notes")
    private static let sampleRecords = ["a first record", "", "a third record"].map { Array($0.utf8) }
    private static let lastRecord = Array("a last record".utf8)
    private static let imageContent = (0..<700).map { UInt8(truncatingIfNeeded: $0) }
    private static let manifest = SealedImage.Manifest(
        rule: "rule 1", byteCount: imageContent.count,
        logs: [vault: SealedLog.Position(offset: 500, number: 3, checksum: 9)])

    private static func fixedKey() throws -> SecretKey {
        try SecretKey { (bytes) throws(ProtectionError) in
            for index in 0..<SecretKey.byteCount { bytes[index] = 7 }
        }
    }

    private static func records(of log: SealedLog) throws -> [[UInt8]] {
        var page = try log.records(maximumBytes: 50)
        var records = page.records
        while let next = page.next {
            page = try log.records(from: next, maximumBytes: 50)
            records += page.records
        }
        return records
    }

    private static func bytes(of path: String, _ files: MemoryLogFiles) throws -> [UInt8] {
        let file = try files.open(path, for: .read)
        return try file.read(at: 0, count: try file.size())
    }

    /// Returns a file with records that were appended while it was unlocked and, if its class
    /// allows that, while it was locked.
    private static func sampleLog(_ protection: ProtectionClass) throws -> [UInt8] {
        let files = MemoryLogFiles()
        let log = try SealedLog.create(
            logPath, in: folder, scope, protection, vault: vault, master: fixedKey(), files: files
        ) { append throws(ProtectionError) in
            for record in sampleRecords.dropLast() { try append(record) }
        }
        if protection == .completeUnlessOpen { log.lock() }
        for record in sampleRecords.suffix(1) { try log.append(record) }
        return try bytes(of: logPath, files)
    }

    private static func sampleImage() throws -> [UInt8] {
        let files = MemoryLogFiles()
        let unfinished = try SealedImage.write(
            to: imagePath, in: folder, manifest, SecretKey(), vault: vault, master: fixedKey(), files: files
        ) { offset, count in Array(imageContent[offset..<offset + count]) }
        try unfinished.publish()
        return try bytes(of: imagePath, files)
    }
}
