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
    ///   - destination: Where the file will appear. An existing file is replaced then, and so is a symbolic link, never
    ///     what it points to; a folder, also behind a link, is refused now.
    ///   - token: Distinguishes staging files of deliveries at the same time.
    static func create(for destination: String, token: UInt64) throws(PromiseError) -> StagedFile {
        guard !destination.utf8.contains(0) else {
            throw .inputOutput(operation: "Writing to", path: destination.debugDescription, code: EINVAL)
        }
        var status = stat()
        if stat(destination, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw .inputOutput(operation: "Writing to", path: destination, code: EISDIR)
        }
        let slash = destination.lastIndex(of: "/")
        let folder = slash.map { String(destination[...$0]) } ?? ""
        let name = slash.map { String(destination[destination.index(after: $0)...]) } ?? destination
        let path = folder + "." + beginning(of: name) + "." + String(token, radix: 36) + ".part"
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard number >= 0 else { throw .inputOutput(operation: "Creating", path: path, code: errno) }
        return StagedFile(destination: destination, stagingPath: path, descriptor: OwnedDescriptor(adopting: number))
    }

    /// The longest part of the destination's name that the staging file carries. File systems limit names to 255 bytes.
    private static let maximumNameBytes = 120

    private static func beginning(of name: String) -> String {
        guard name.utf8.count > maximumNameBytes else { return name }
        var beginning = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= maximumNameBytes else { break }
            beginning.append(scalar)
        }
        return String(beginning)
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
