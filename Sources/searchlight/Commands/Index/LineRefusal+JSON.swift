// SPDX-License-Identifier: Apache-2.0
import Foundation

extension LineRefusal {
    /// How deep Foundation reads.
    private static let maximumDepth = 512
    /// The most of Foundation's own words, in characters.
    private static let maximumCharacters = 200

    /// Why bytes are no JSON that can be read.
    init(notJSON bytes: some Collection<UInt8>, _ error: any Error) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            self.init("it is not UTF-8")
            return
        }
        guard !Self.nestsTooDeep(bytes) else {
            self.init("it nests deeper than \(Self.maximumDepth) levels")
            return
        }
        guard case DecodingError.dataCorrupted = error else {
            // All kinds of values were tried, so that only a number is left that is none here.
            self.init("it has a number that is out of range")
            return
        }
        self.init("it is not valid JSON" + (Self.firstFault(in: bytes).map { ": " + $0 } ?? ""))
    }

    /// What is wrong and where. The decoder knows and does not tell; its older sibling does.
    private static func firstFault(in bytes: some Collection<UInt8>) -> String? {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            return nil
        } catch {
            let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            return text.map { String($0.prefix(maximumCharacters)) }.map {
                $0.hasSuffix(".") ? String($0.dropLast()) : $0
            }
        }
    }

    private static func nestsTooDeep(_ bytes: some Collection<UInt8>) -> Bool {
        var (depth, isInText, isEscaped) = (0, false, false)
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInText: isEscaped = true
            case UInt8(ascii: "\""): isInText.toggle()
            case _ where isInText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if depth > maximumDepth { return true }
        }
        return false
    }
}
