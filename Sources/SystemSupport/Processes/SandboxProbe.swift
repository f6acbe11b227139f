// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Determines the sandbox of a process. It reads the file that Flatpak places in the root of every
/// sandbox. A sandboxed process cannot change its own root.
struct SandboxProbe {
    let process: pid_t
    let processes: String

    /// The maximum size of `.flatpak-info` in bytes. It usually has several hundred bytes.
    static let maximumInfo = 64 << 10
    /// The maximum size of a security label in bytes.
    private static let maximumLabel = 4096

    func sandbox() throws(PeerIdentityError) -> PeerIdentity.Sandbox {
        if let application = try flatpakApplication() { return .flatpak(application: application) }
        if let name = try snapName() { return .snap(name: name) }
        return .none
    }

    private func flatpakApplication() throws(PeerIdentityError) -> String? {
        let number = open("\(processes)/\(process)/root", Int32(csystem_o_path) | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            let code = errno
            throw code == ENOENT ? .gone(process: process) : undetermined("opening its root folder", code)
        }
        let root = OwnedDescriptor(adopting: number)
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(
                below: root.number, ".flatpak-info", limit: Self.maximumInfo, regularOnly: true)
        } catch {
            switch error {
            case .system(ENOENT): return nil
            case .system(let code): throw undetermined("opening its .flatpak-info", code)
            case .tooLarge(let limit): throw doubtful("its .flatpak-info has more than \(limit) bytes")
            case .notRegular: throw doubtful("its .flatpak-info is not a regular file")
            }
        }
        let info: KeyFile
        do { info = try KeyFile(bytes) } catch { throw doubtful("its .flatpak-info is malformed: \(error)") }
        guard let name = info.value("Application", "name") else {
            throw doubtful("its .flatpak-info names no application")
        }
        guard Self.isApplicationName(name) else {
            throw doubtful("the application in its .flatpak-info is not an application identifier")
        }
        return name
    }

    /// Returns the snap's name from the AppArmor label `snap.NAME.PROGRAM (enforce)`. A snap in
    /// classic confinement, or on a system without AppArmor, is not sandboxed.
    private func snapName() throws(PeerIdentityError) -> String? {
        for file in ["attr/apparmor/current", "attr/current"] {
            let bytes: [UInt8]
            do {
                bytes = try BoundedFile.read("\(processes)/\(process)/\(file)", limit: Self.maximumLabel)
            } catch {
                // EINVAL: no security module provides labels.
                if case .system(let code) = error, [ENOENT, EINVAL, EOPNOTSUPP].contains(code) { continue }
                if case .system(let code) = error { throw undetermined("reading its security label", code) }
                throw doubtful("its security label is too long")
            }
            let label = String(decoding: bytes.filter { $0 != 0 && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            guard label.hasPrefix("snap."), label.hasSuffix(" (enforce)") else { return nil }
            let parts = label.dropLast(" (enforce)".count).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count >= 3, !parts[1].isEmpty else { throw doubtful("its security label is malformed") }
            return String(parts[1])
        }
        return nil
    }

    /// Returns `true` if a name is a valid application identifier: at most 255 bytes, and two or
    /// more elements separated by dots. Each element consists of letters, digits, `_` and `-`, and
    /// does not start with a digit.
    static func isApplicationName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= 255 && parts.count >= 2
            && parts.allSatisfy { part in
                guard let first = part.first, !isDigit(first) else { return false }
                return part.allSatisfy {
                    isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                }
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private func doubtful(_ detail: String) -> PeerIdentityError { .undetermined(process: process, detail: detail) }

    private func undetermined(_ operation: String, _ code: Int32) -> PeerIdentityError {
        doubtful("\(operation) failed: \(String(cString: strerror(code)))")
    }
}
