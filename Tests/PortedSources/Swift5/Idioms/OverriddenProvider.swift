// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

final class WatchedProvider: NSItemProvider, @unchecked Sendable {
    var asked: [String] = []
    var ended: (() -> Void)?

    override func loadDataRepresentation(
        forTypeIdentifier typeIdentifier: String, completionHandler: @escaping @Sendable (Data?, Error?) -> Void
    ) -> Progress {
        asked.append(typeIdentifier)
        return super.loadDataRepresentation(
            forTypeIdentifier: typeIdentifier, completionHandler: completionHandler)
    }

    override func registerObject(
        _ object: NSItemProviderWriting, visibility: NSItemProviderRepresentationVisibility
    ) {
        super.registerObject(object, visibility: .ownProcess)
    }

    override func canLoadObject(ofClass aClass: NSItemProviderReading.Type) -> Bool { !asked.isEmpty }

    deinit { ended?() }
}
