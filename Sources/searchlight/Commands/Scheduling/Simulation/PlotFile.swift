// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc

/// The output file of a plot: SVG, or PNG through librsvg's program `rsvg-convert`, because this
/// program has no rasterizer.
struct PlotFile {
    enum Format {
        case svg, png

        /// Creates the format for the suffix of a file name.
        init?(_ path: String) {
            let name = path.lowercased()
            if name.hasSuffix(".svg") { self = .svg } else if name.hasSuffix(".png") { self = .png } else { return nil }
        }
    }
    private let path: String
    private let format: Format

    init(_ path: String) {
        self.path = absolute(path)
        format = Format(path) ?? .svg
    }

    /// Writes the picture to a temporary file and renames it, so that the file is never incomplete.
    func write(_ svg: String) throws(CommandFailure) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard access(folder, F_OK) == 0 else {
            throw CommandFailure(
                message: "Drawing \(path) failed: there is no folder \(folder). Create it, or name another file.",
                status: .inputOutput)
        }
        let part = "\(path).part-\(getpid())"
        defer { unlink(part) }
        switch format {
        case .svg: try create(part, svg)
        case .png: try convert(svg, to: part)
        }
        guard rename(part, path) == 0 else { throw failure("the finished file cannot be renamed", errno) }
    }

    /// Creates a file that only this user can read, because the picture reveals when the user was
    /// active.
    private func create(_ path: String, _ text: String) throws(CommandFailure) {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw failure("\(path) cannot be created", errno) }
        let handle = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        do { try handle.write(contentsOf: Data(text.utf8)) } catch {
            throw failure("\(path) cannot be written", errno)
        }
    }

    private func failure(_ what: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            message: "Drawing \(path) failed: \(what): \(String(cString: strerror(code)).lowercased()).",
            status: .inputOutput)
    }

    /// Converts the picture with `rsvg-convert` at twice the size, for high-resolution screens.
    private func convert(_ svg: String, to part: String) throws(CommandFailure) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = folders.map { "\($0)/rsvg-convert" }
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                message: """
                    Drawing \(path) failed: PNG needs the program rsvg-convert, which is not installed. Install librsvg2-bin \
                    (Debian, Ubuntu), librsvg2-tools (Fedora) or librsvg (Arch), or name a file that ends in .svg.
                    """,
                status: .failure)
        }
        let source = part + ".svg"
        defer { unlink(source) }
        try create(source, svg)
        // The program writes to the existing file, which keeps its mode.
        try create(part, "")
        let converter = Process()
        converter.executableURL = URL(filePath: program)
        converter.arguments = ["--format", "png", "--zoom", "2", "--output", part, source]
        converter.standardOutput = FileHandle.nullDevice
        do { try converter.run() } catch {
            throw failure("\(program) cannot be started", errno)
        }
        converter.waitUntilExit()
        guard converter.terminationStatus == 0, access(part, F_OK) == 0 else {
            throw CommandFailure(
                message: """
                    Drawing \(path) failed: \(program) ended with status \(converter.terminationStatus). To draw without it, \
                    name a file that ends in .svg.
                    """,
                status: .failure)
        }
    }
}
