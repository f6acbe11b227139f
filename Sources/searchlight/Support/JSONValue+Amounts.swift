// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Foundation
import JSONText

extension JSONValue {
    /// Returns the value of an attribute as one line of text; amounts are shown with units.
    func line(of attribute: String) -> String {
        // The value is in megabytes, as documented by Apple.
        guard attribute == "fileSize", let amount = number, let size = Self.size(bytes: amount * 1_000_000) else {
            return line
        }
        return size
    }

    /// Returns a size with a decimal unit (a power of 1000); `nil` for an invalid size.
    static func size(bytes: Double) -> String? {
        guard bytes >= 0, bytes < 1e18 else { return nil }
        let whole = bytes.rounded()
        if whole < 1000 { return counted(Int(whole), "byte") }
        let units = ["kB", "MB", "GB", "TB", "PB"]
        var (amount, unit) = (bytes / 1000, 0)
        // A value that would be rounded to 1000 uses the next larger unit.
        while amount >= 999.5, unit + 1 < units.count { (amount, unit) = (amount / 1000, unit + 1) }
        let text = String(format: amount < 9.95 ? "%.1f" : "%.0f", amount)
        return "\(text) \(units[unit])"
    }

    /// Returns a number in decimal notation (0.000064 rather than 6.4e-05), unless that would
    /// require very many zeros.
    static func plain(_ number: Double) -> String {
        let text = "\(number)"
        if text.hasSuffix(".0") { return String(text.dropLast(2)) }
        guard let mark = text.firstIndex(of: "e"), let exponent = Int(text[text.index(after: mark)...]),
            abs(exponent) <= maximumExponent
        else { return text }
        let digits = text[..<mark].filter(\.isNumber)
        return String(format: "%.\(max(0, digits.count - 1 - exponent))f", number)
    }

    private static let maximumExponent = 20
}
