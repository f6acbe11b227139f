// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import UniformTypeIdentifiers

/// A representation that an item promises.
public struct Representation: Hashable, Sendable, Codable {
    /// The form of a representation.
    public enum Form: String, Hashable, Sendable, Codable, CaseIterable {
        /// Data in memory or a stream.
        case data
        /// A file that is created for the receiver.
        case file
        /// The item's original file.
        case inPlaceFile
    }

    /// The uniform type identifier.
    public var type: String
    /// The form.
    public var form: Form

    /// Creates a representation.
    public init(type: String, form: Form) {
        self.type = type
        self.form = form
    }
}

extension ItemRecord {
    /// The promised representations, best first: data, then files, then the original in place. Each
    /// group is in the app's order. (Apple's sample code states that data is preferred if both are
    /// offered.)
    public var promisedRepresentations: [Representation] { promisedRepresentations(Representation.Form.allCases) }

    /// Returns the representations in the given forms, ordered by form and then in the app's order.
    public func promisedRepresentations(_ forms: [Representation.Form]) -> [Representation] {
        forms.flatMap { form in
            texts(form.attribute).prefix(Self.maximumRepresentationsPerForm).map {
                Representation(type: $0, form: form)
            }
        }
    }

    /// The maximum number of types in one form. Each is compared with every accepted type.
    public static var maximumRepresentationsPerForm: Int { 256 }
}

extension Representation.Form {
    /// The form as a noun.
    var noun: String {
        switch self {
        case .data: "data"
        case .file: "a file"
        case .inPlaceFile: "its original in place"
        }
    }

    /// The attribute that contains the item's types in this form.
    fileprivate var attribute: String {
        switch self {
        case .data: "providerDataTypeIdentifiers"
        case .file: "providerFileTypeIdentifiers"
        case .inPlaceFile: "providerInPlaceFileTypeIdentifiers"
        }
    }
}

extension [Representation.Form] {
    /// The forms as nouns, to complete "as".
    var nouns: String { map(\.noun).joined(separator: " or ") }
}

/// The choice of one of an item's representations for a receiver.
public struct PromiseResolution: Hashable, Sendable {
    /// The offered representations, best first.
    public var offered: [Representation]
    /// Every pair of an offered and an accepted type, with the deciding rule.
    public var explanation: UTTypeResolution
    /// The item's representations in forms that the receiver does not accept.
    public var otherForms: [Representation]
    /// The accepted forms, best first.
    private var forms: [Representation.Form]

    /// The offered types without duplicates, best first.
    var offeredTypes: [String] {
        var known: Set<String> = []
        return offered.map(\.type).filter { known.insert($0).inserted }
    }

    /// The chosen representation, or `nil` if none is suitable.
    public var choice: Representation? { explanation.choice.map { offered[$0.offeredIndex] } }

    /// The error if no representation is suitable; otherwise `nil`.
    public var refusal: PromiseError? {
        guard choice == nil else { return nil }
        guard offered.isEmpty, !otherForms.isEmpty else {
            return .unsupportedType(offered: offeredTypes, accepted: explanation.accepted)
        }
        return .unsupportedForm(taken: forms, offered: otherForms)
    }

    /// Determines what an item can provide to a receiver, by type conformance.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accepted: Uniform type identifiers, best first.
    ///   - preference: The side whose order has priority.
    ///   - forms: The accepted forms, best first. Other forms are not offered.
    public init(
        _ item: ItemRecord, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        forms: [Representation.Form] = Representation.Form.allCases
    ) {
        self.forms = forms
        offered = item.promisedRepresentations(forms)
        otherForms = item.promisedRepresentations(Representation.Form.allCases.filter { !forms.contains($0) })
        explanation = UTTypeResolver.resolve(
            offeredIdentifiers: offered.map(\.type), acceptedIdentifiers: accepted, preferring: preference)
    }
}
