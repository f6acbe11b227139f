// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol

/// A file being written beside the place where it will appear: renamed there when it is whole, removed otherwise.
struct StagedFile: ~Copyable {
    private let destination: String
    private let stagingPath: String
    private let descriptor: OwnedDescriptor
    private var committed = false

    /// Creates the staging file.
    ///
    /// - Parameters:
    ///   - destination: Where the file will appear; an existing file is replaced then, a folder is refused now.
    ///   - token: Distinguishes staging files of deliveries at the same time.
    static func create(for destination: String, token: UInt64) throws(PromiseError) -> StagedFile {
        var status = stat()
        if stat(destination, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw .inputOutput(operation: "Writing to", path: destination, code: EISDIR)
        }
        let slash = destination.lastIndex(of: "/")
        let folder = slash.map { String(destination[...$0]) } ?? ""
        let name = slash.map { String(destination[destination.index(after: $0)...]) } ?? destination
        // Hidden, and short enough whatever the name's length.
        let path = folder + "." + String(name.prefix(40)) + "." + String(token, radix: 36) + ".part"
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard number >= 0 else { throw .inputOutput(operation: "Creating", path: path, code: errno) }
        return StagedFile(destination: destination, stagingPath: path, descriptor: OwnedDescriptor(adopting: number))
    }

    private init(destination: String, stagingPath: String, descriptor: OwnedDescriptor) {
        self.destination = destination
        self.stagingPath = stagingPath
        self.descriptor = descriptor
    }

    deinit { if !committed { unlink(stagingPath) } }

    /// Where to write.
    var number: Int32 { descriptor.number }

    /// Makes the file appear at its destination, whole.
    consuming func commit() throws(PromiseError) {
        guard fsync(descriptor.number) == 0 else {
            throw .inputOutput(operation: "Saving", path: stagingPath, code: errno)
        }
        guard rename(stagingPath, destination) == 0 else {
            throw .inputOutput(operation: "Renaming to", path: destination, code: errno)
        }
        committed = true
    }
}
