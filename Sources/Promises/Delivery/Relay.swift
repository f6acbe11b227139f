// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// Relays bytes from a provider with a time limit to a receiver without one.
///
/// Bytes are passed on as they arrive. If the provider was blocked for too long, the remaining
/// bytes are first written to an unnamed file and passed on from there. The reason is that an idle
/// worker is terminated after a while, which closes its stream.
struct Relay {
    private let output: ByteSink
    private var patience: Duration
    private var held: HeldBytes?

    init(to output: ByteSink, patience: Duration) {
        self.output = output
        self.patience = patience
    }

    /// Processes the provider's next bytes.
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

    /// Passes on the bytes in the file. Must be called when the provider has sent everything.
    func finish() throws(PromiseError) {
        try held?.read { (bytes) throws(PromiseError) in try output.write(bytes) }
    }
}

/// Bytes in an unnamed file that wait for their receiver. Their number is bounded by the length
/// that the provider declared and that was accepted.
struct HeldBytes {
    private let file: OwnedDescriptor
    /// The folder in error messages.
    private let place: String
    private var count: Int64 = 0

    private static let bufferBytes = 128 << 10

    /// The folders for large temporary files: the user's choice, and folders that are probably not
    /// in memory.
    static var standardFolders: [String] {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return (chosen.isEmpty ? [] : [chosen]) + ["/var/tmp", "/tmp"]
    }

    /// Creates the file.
    ///
    /// - Parameter folders: The first folder that supports unnamed files is used; if there is none,
    ///   the file is in memory.
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

    /// Passes on all bytes, starting with the first.
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
        .inputOutput(operation: "Buffering the content in", path: place, code: code)
    }
}
