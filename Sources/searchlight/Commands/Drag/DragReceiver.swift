// SPDX-License-Identifier: Apache-2.0
import Promises
import CommandSupport
import SearchIndex
import UniformTypeIdentifiers

/// The receiver of a drag: a profile, or the types named by the user.
struct DragReceiver {
    private let profile: ReceiverProfile?
    private let accepted: [String]
    private let isInPlace: Bool

    init(
        profile name: String?, accepted: [String], inPlace: Bool, environment: [String: String]
    ) throws(CommandFailure) {
        self.accepted = accepted
        isInPlace = inPlace
        guard let name else {
            profile = nil
            return
        }
        profile = try ReceiverProfiles.find(name, environment: environment)
    }

    /// Returns the representation of an item that the receiver accepts, with notes on how its types
    /// were interpreted.
    func resolution(of item: StoredItem) -> (PromiseResolution, notes: [String]) {
        if let profile {
            let forms = isInPlace ? [Representation.Form.inPlaceFile] : profile.takes
            return (
                PromiseResolution(
                    item.record, accepted: profile.accepts, preferring: profile.order, forms: forms),
                profile.path == nil ? [] : AcceptedTypes(profile.accepts, for: item).notes
            )
        }
        let forms = isInPlace ? [.inPlaceFile] : Representation.Form.allCases
        // With only --in-place, any type is accepted.
        guard !accepted.isEmpty else {
            let types = item.record.promisedRepresentations(forms).map(\.type)
            return (PromiseResolution(item.record, accepted: types, preferring: .source, forms: forms), [])
        }
        let types = AcceptedTypes(accepted, for: item)
        return (PromiseResolution(item.record, accepted: types.identifiers, forms: forms), types.notes)
    }
}

extension ReceiverProfiles {
    /// Returns the profile with a name. Throws the reason why there is none.
    static func find(_ name: String, environment: [String: String]) throws(CommandFailure) -> ReceiverProfile {
        let folder = folder(environment: environment)
        let profiles = ReceiverProfiles(folder: folder)
        if let problem = profiles.problems.first(where: { $0.path == "\(folder)/\(name).json" }) {
            throw CommandFailure(message: problem.description, status: .usage)
        }
        guard let profile = profiles[name] else {
            throw CommandFailure(
                message: """
                    There is no receiver profile \(name.debugDescription). Choose one of \
                    \(profiles.profiles.map(\.name).joined(separator: ", ")), or create \(folder)/NAME.json.
                    """, status: .usage)
        }
        return profile
    }
}
