// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc

/// Creates folders.
enum NewFolder {
    /// Creates a folder and its missing parents.
    ///
    /// - Throws: ``CommandFailure`` with the folder that could not be created, and the reason.
    ///   Foundation's errors name neither.
    static func make(_ path: String) throws(CommandFailure) {
        var made = ""
        for name in path.split(separator: "/") {
            made += "/" + name
            if mkdir(made, 0o755) == 0 { continue }
            let code = errno
            var status = stat()
            if stat(made, &status) == 0 {
                if status.st_mode & S_IFMT == S_IFDIR { continue }
                throw failure(path, "\(made) is not a folder")
            }
            throw failure(path, "\(made) cannot be created: \(String(cString: strerror(code)).lowercased())")
        }
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(
            message:
                "Creating the folder \(path) failed. \(reason). Check the owner of its parent folder, or name another folder.",
            status: .inputOutput)
    }
}
