// SPDX-License-Identifier: Apache-2.0

/// A parser or decoder of bytes from others, and the property that it has for every input.
struct FuzzTarget: Sendable {
    /// The name, for arguments and docs/SECURITY.md.
    let name: String
    /// The words that have a meaning in an input.
    var tokens: [String] = []
    /// Returns valid inputs.
    let samples: @Sendable () async throws -> [[UInt8]]
    /// Checks one input. Returns `true` if the parser accepted it.
    ///
    /// - Throws: ``Broken`` or another error if the property does not hold.
    let check: @Sendable ([UInt8]) throws -> Bool

    /// The targets, in the order of the first byte of an input.
    static let all: [FuzzTarget] = typed + records + protection + documents + pages + databases + models

    /// A property that does not hold.
    struct Broken: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Creates a target whose inputs are texts.
    static func text(
        _ name: String, tokens: [String] = [], samples: [String], check: @escaping @Sendable (String) throws -> Bool
    ) -> FuzzTarget {
        FuzzTarget(name: name, tokens: tokens, samples: { samples.map { Array($0.utf8) } }) {
            try check(String(decoding: $0, as: UTF8.self))
        }
    }
}

/// Throws if a property does not hold.
func require(_ holds: Bool, _ problem: @autoclosure () -> String) throws {
    guard holds else { throw FuzzTarget.Broken(problem()) }
}
