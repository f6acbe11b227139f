// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// Bytes on their way from a provider that has to hurry to a receiver that need not.
///
/// They are handed on as they come. Of a provider that was kept waiting for too long the rest is put into a file without a
/// name first, and handed on from there: a worker that is asked nothing more is ended after a while, and its stream with it.
struct Relay {
    private let output: ByteSink
    private var patience: Duration
    private var held: HeldBytes?

    init(to output: ByteSink, patience: Duration) {
        self.output = output
        self.patience = patience
    }

    /// Takes the next bytes of the provider.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(PromiseError) {
        var rest = bytes
        if held == nil {
            let start = ContinuousClock.now
            let count = try output.write(bytes, patience: patience)
            patience = max(.zero, patience - start.duration(to: .now))
            rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            guard !rest.isEmpty else { return }
            held = try HeldBytes()
        }
        try held?.append(rest)
    }

    /// Hands on what was held back. To be called when the provider has given everything.
    func finish() throws(PromiseError) {
        try held?.read { (bytes) throws(PromiseError) in try output.write(bytes) }
    }
}

/// Bytes that wait for their receiver, in a file without a name. No more of them come than a provider has announced, which
/// was agreed to.
struct HeldBytes {
    private let file: OwnedDescriptor
    /// As errors name it.
    private let place: String
    private var count: Int64 = 0

    private static let bufferBytes = 128 << 10

    /// Where temporary files may be large: the person's own choice, else where they are not in memory, if that can be.
    static var standardFolders: [String] {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return (chosen.isEmpty ? [] : [chosen]) + ["/var/tmp", "/tmp"]
    }

    /// - Parameter folders: The first one in which a file can have no name is used; else it is kept in memory.
    init(folders: [String] = Self.standardFolders) throws(PromiseError) {
        for folder in folders {
            let number = open(folder, O_RDWR | StagedFile.anonymous | O_CLOEXEC, 0o600)
            guard number < 0 else {
                (file, place) = (OwnedDescriptor(adopting: number), folder)
                return
            }
        }
        let number = csandbox_memory_file()
        guard number >= 0 else { throw Self.failed("memory", errno) }
        (file, place) = (OwnedDescriptor(adopting: number), "memory")
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(PromiseError) {
        if case .failure(let error) = WholeTransfer.write(bytes, to: file.number, at: Int(count)) {
            throw Self.failed(place, error.code)
        }
        count += Int64(bytes.count)
    }

    /// Hands out everything, from the first byte.
    func read(_ take: (UnsafeRawBufferPointer) throws(PromiseError) -> Void) throws(PromiseError) {
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        var offset: Int64 = 0
        while offset < count {
            let part = buffer.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, off_t(offset)) }
            if part < 0, errno == EINTR { continue }
            guard part > 0 else { throw Self.failed(place, part < 0 ? errno : EIO) }
            offset += Int64(part)
            try buffer.span.withUnsafeBytes { (bytes) throws(PromiseError) in
                try take(UnsafeRawBufferPointer(rebasing: bytes[..<part]))
            }
        }
    }

    private static func failed(_ place: String, _ code: Int32) -> PromiseError {
        .inputOutput(operation: "Keeping what the receiver does not take yet in", path: place, code: code)
    }
}
