// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

final class AwaitingRequestHandler: CSIndexExtensionRequestHandler {
    private var opened: Date

    override init() {
        opened = Date()
        super.init()
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        Task {
            defer { acknowledgementHandler() }
            let attributes = CSSearchableItemAttributeSet(contentType: .text)
            let item = CSSearchableItem(uniqueIdentifier: "1", domainIdentifier: nil, attributeSet: attributes)
            try? await CSSearchableIndex.default().indexSearchableItems([item])
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        Task { @MainActor in acknowledgementHandler() }
    }
}
