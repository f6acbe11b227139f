// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The file into which a picture is drawn: SVG, or PNG by a program of librsvg's, since a rasteriser of fonts is not ours to
/// write.
struct PlotFile {
    enum Format {
        case svg, png

        /// By the end of a file's name.
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

    /// Writes the picture beside its place and renames it, so that there is never half a picture.
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
        case .svg:
            do { try Data(svg.utf8).write(to: URL(filePath: part)) } catch {
                throw failure("\(part) cannot be written", errno)
            }
        case .png: try convert(svg, to: part)
        }
        guard rename(part, path) == 0 else { throw failure("it cannot be put into its place", errno) }
    }

    private func failure(_ what: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            message: "Drawing \(path) failed: \(what): \(String(cString: strerror(code)).lowercased()).",
            status: .inputOutput)
    }

    /// Has `rsvg-convert` draw it, at twice the size, for screens with small points.
    private func convert(_ svg: String, to part: String) throws(CommandFailure) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let candidates = folders.map { "\($0)/rsvg-convert" }
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw CommandFailure(
                message: """
                    Drawing \(path) failed: PNG needs the program rsvg-convert, which is not there. Install librsvg2-bin \
                    (Debian, Ubuntu), librsvg2-tools (Fedora) or librsvg (Arch), or name a file that ends in .svg.
                    """,
                status: .failure)
        }
        let source = part + ".svg"
        defer { unlink(source) }
        do { try Data(svg.utf8).write(to: URL(filePath: source)) } catch {
            throw failure("\(source) cannot be written", errno)
        }
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
                message: "Drawing \(path) failed: \(program) ended with status \(converter.terminationStatus).",
                status: .failure)
        }
    }
}
