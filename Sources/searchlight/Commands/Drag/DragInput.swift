// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import Promises

/// A number of bytes, as written by users: 4096, 500M, 2GiB. Units are powers of 1024.
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

/// Asks the user at the terminal for permission for a large drag.
enum Consent {
    /// Asks the user for permission.
    ///
    /// - Parameter mayAsk: `true` if standard input is not a list of items.
    /// - Returns: The reason for a refusal; `nil` if the user allows the drag.
    static func ask(bytes: UInt64, limit: UInt64, mayAsk: Bool) -> DragFailure? {
        let (size, bound) = (ByteLimit(bytes: bytes), ByteLimit(bytes: limit))
        guard mayAsk, isatty(STDIN_FILENO) == 1, Output.showsProgress else {
            return DragFailure(
                .refused, "The size is \(size), more than \(bound). Add --yes to deliver it, or raise --limit.")
        }
        Output.progress("The size is \(size), more than \(bound). Continue? [y/N] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
        return ["y", "yes"].contains(answer) ? nil : DragFailure(.cancelled, "Cancelled: nothing was written.")
    }
}
