// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// A folder that is filled next to its destination. It is moved there when it is complete, and
/// removed otherwise. It replaces nothing.
struct StagedFolder: ~Copyable {
    private let destination: String
    private let stagingPath: String
    private let descriptor: OwnedDescriptor
    private var isStaging = true

    /// Creates the staging folder.
    ///
    /// - Parameters:
    ///   - destination: The path at which the folder will appear.
    ///   - token: A number that distinguishes the folders of concurrent deliveries.
    static func create(for destination: String, token: UInt64) throws(PromiseError) -> StagedFolder {
        let path = StagedFile.stagingPath(for: destination, token: token)
        UnfinishedFiles.add(path, isFolder: true)
        guard mkdir(path, 0o777) == 0 else {
            let code = errno
            UnfinishedFiles.forget(path)
            throw .inputOutput(
                operation: "Creating a folder in", path: FileTarget.folder(of: destination), code: code)
        }
        let number = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else {
            let code = errno
            rmdir(path)
            UnfinishedFiles.forget(path)
            throw .inputOutput(operation: "Opening", path: path, code: code)
        }
        return StagedFolder(
            destination: destination, stagingPath: path, descriptor: OwnedDescriptor(adopting: number))
    }

    private init(destination: String, stagingPath: String, descriptor: OwnedDescriptor) {
        self.destination = destination
        self.stagingPath = stagingPath
        self.descriptor = descriptor
    }

    deinit {
        guard isStaging else { return }
        csandbox_remove_tree(stagingPath)
        UnfinishedFiles.forget(stagingPath)
    }

    var number: Int32 { descriptor.number }

    /// Makes the folder appear at its destination, or under the first free variant of a name.
    ///
    /// - Returns: The folder's path.
    consuming func commit(as name: FileName?) throws(PromiseError) -> String {
        guard let name else {
            let code = FreeName.rename(stagingPath, to: destination, isFolder: true)
            guard code == 0 else {
                throw .inputOutput(operation: "Renaming to", path: destination, code: code)
            }
            return done(at: destination)
        }
        let folder = FileTarget.folder(of: destination)
        for path in FreeName.paths(name, in: folder) {
            switch FreeName.rename(stagingPath, to: path, isFolder: true) {
            case 0: return done(at: path)
            case EEXIST, ENOTEMPTY: continue
            case let code: throw .inputOutput(operation: "Renaming to", path: path, code: code)
            }
        }
        throw FreeName.exhausted(name, in: folder)
    }

    private mutating func done(at path: String) -> String {
        UnfinishedFiles.forget(stagingPath)
        isStaging = false
        return path
    }
}
