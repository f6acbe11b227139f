// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

public struct Spotlight {
    private let index: CSSearchableIndex

    init(index: CSSearchableIndex = .default()) { self.index = index }

    var isAvailable: Bool { CSSearchableIndex.isIndexingAvailable() }

    func remove(_ identifier: String) async { try? await index.deleteSearchableItems(withIdentifiers: [identifier]) }
}
