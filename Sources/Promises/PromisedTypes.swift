// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import UniformTypeIdentifiers

/// One way in which an item said it can be had.
public struct Representation: Hashable, Sendable, Codable {
    /// What is produced.
    public enum Form: String, Hashable, Sendable, Codable, CaseIterable {
        /// Bytes.
        case data
        /// A file made for the receiver.
        case file
        /// The item's own file.
        case inPlaceFile
    }

    /// The uniform type identifier.
    public var type: String
    /// What is produced.
    public var form: Form

    /// Creates a representation.
    public init(type: String, form: Form) {
        self.type = type
        self.form = form
    }
}

extension ItemRecord {
    /// The representations the item promised, best first: data, then files, then the original in place, each in the
    /// order the app listed them. (Apple's sample code says that data is preferred where both are offered.)
    public var promisedRepresentations: [Representation] { promisedRepresentations(Representation.Form.allCases) }

    /// The representations of some forms, in the order of these; in each, in the order the app listed them.
    public func promisedRepresentations(_ forms: [Representation.Form]) -> [Representation] {
        forms.flatMap { form in
            texts(form.attribute).prefix(Self.maximumRepresentationsPerForm).map {
                Representation(type: $0, form: form)
            }
        }
    }

    /// The most types of one form that are looked at: each is compared with every type a receiver accepts.
    public static var maximumRepresentationsPerForm: Int { 256 }
}

extension Representation.Form {
    /// What is produced, in words.
    var noun: String {
        switch self {
        case .data: "data"
        case .file: "a file"
        case .inPlaceFile: "its original in place"
        }
    }

    /// The attribute with the types that an item can be had as in this form.
    fileprivate var attribute: String {
        switch self {
        case .data: "providerDataTypeIdentifiers"
        case .file: "providerFileTypeIdentifiers"
        case .inPlaceFile: "providerInPlaceFileTypeIdentifiers"
        }
    }
}

extension [Representation.Form] {
    /// They in words, as the rest of "as".
    var nouns: String { map(\.noun).joined(separator: " or ") }
}

/// Which representation of an item serves a receiver.
public struct PromiseResolution: Hashable, Sendable {
    /// What the item offers, best first.
    public var offered: [Representation]
    /// Every pair of offered and accepted type, and what decided.
    public var explanation: UTTypeResolution
    /// What the item offers in forms that the receiver does not take.
    public var otherForms: [Representation]
    /// What the receiver takes, best first.
    private var forms: [Representation.Form]

    /// The types of what the item offers, each once, best first.
    var offeredTypes: [String] {
        var known: Set<String> = []
        return offered.map(\.type).filter { known.insert($0).inserted }
    }

    /// The representation to ask for, or `nil` if none serves.
    public var choice: Representation? { explanation.choice.map { offered[$0.offeredIndex] } }

    /// Why none serves; `nil` if one does.
    public var refusal: PromiseError? {
        guard choice == nil else { return nil }
        guard offered.isEmpty, !otherForms.isEmpty else {
            return .unsupportedType(offered: offeredTypes, accepted: explanation.accepted)
        }
        return .unsupportedForm(taken: forms, offered: otherForms)
    }

    /// Resolves what a receiver accepts against what an item offers, by type conformance.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accepted: Uniform type identifiers, best first.
    ///   - preference: Whose order leads.
    ///   - forms: What the receiver takes, best first; nothing else counts as offered.
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
