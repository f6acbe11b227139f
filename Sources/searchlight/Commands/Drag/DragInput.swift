// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import Promises

/// The items a drag is given: as arguments, or as lines of a file or of standard input.
struct DraggedNames {
    let names: [String]

    private static let maximumItems = 10_000
    private static let maximumBytes = 16 << 20

    init(_ arguments: [String], from file: String?) throws(CommandFailure) {
        var names: [String] = []
        for argument in arguments { names += argument == "-" ? try Self.lines(of: nil) : [argument] }
        if let file { names += try Self.lines(of: file == "-" ? nil : file) }
        guard !names.isEmpty else { throw CommandFailure(message: "The list of items is empty.", status: .usage) }
        guard names.count <= Self.maximumItems else {
            throw CommandFailure(
                message: "\(names.count) items are too many at once; the limit is \(Self.maximumItems).",
                status: .usage)
        }
        self.names = names
    }

    private static func lines(of path: String?) throws(CommandFailure) -> [String] {
        let data: Data?
        do {
            let handle = try path.map { try FileHandle(forReadingFrom: URL(filePath: $0)) } ?? .standardInput
            data = try handle.read(upToCount: maximumBytes + 1)
        } catch {
            throw CommandFailure(
                message: "Reading the items from \(path ?? "standard input") failed: \(error.localizedDescription)",
                status: .inputOutput)
        }
        guard (data?.count ?? 0) <= maximumBytes else {
            throw CommandFailure(message: "The list of items is longer than \(maximumBytes) bytes.", status: .usage)
        }
        return String(decoding: data ?? Data(), as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }
}

/// A number of bytes as people write it: 4096, 500M, 2GiB. Units are powers of 1024.
struct ByteLimit: ExpressibleByArgument, CustomStringConvertible {
    var bytes: UInt64

    private static let units: [(name: String, shift: UInt64)] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)]

    init(bytes: UInt64) { self.bytes = bytes }

    init?(argument: String) {
        let text = argument.uppercased()
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard let number = UInt64(digits) else { return nil }
        if rest.isEmpty || rest == "B" {
            bytes = number
            return
        }
        guard let unit = Self.units.first(where: { [$0.name, $0.name + "B", $0.name + "IB"].contains(String(rest)) })
        else {
            return nil
        }
        let (product, overflows) = number.multipliedReportingOverflow(by: 1 << unit.shift)
        guard !overflows else { return nil }
        bytes = product
    }

    var description: String {
        guard let unit = Self.units.first(where: { bytes >= 1 << $0.shift }) else { return "\(bytes) bytes" }
        let number = Double(bytes) / Double(UInt64(1) << unit.shift)
        return String(format: number < 10 && number != number.rounded() ? "%.1f" : "%.0f", number) + " \(unit.name)iB"
    }
}

/// Asks the person at the terminal whether so much is wanted.
enum Consent {
    /// - Parameter mayAsk: Whether standard input is the person's, and no list.
    /// - Returns: Why it is not wanted; `nil` if it is.
    static func ask(bytes: UInt64, limit: UInt64, mayAsk: Bool) -> DragFailure? {
        let (size, bound) = (ByteLimit(bytes: bytes), ByteLimit(bytes: limit))
        guard mayAsk, isatty(STDIN_FILENO) == 1, Output.showsProgress else {
            return DragFailure(
                .refused, "It would be \(size), more than \(bound). Add --yes to have it, or raise --limit.")
        }
        Output.progress("It is \(size), more than \(bound). Go on? [y/N] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
        return ["y", "yes"].contains(answer) ? nil : DragFailure(.cancelled, "It was not wanted: nothing was written.")
    }
}
