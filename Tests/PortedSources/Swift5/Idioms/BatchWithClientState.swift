// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func synchronise(_ items: [CSSearchableItem], state: Data) async throws {
    let index = CSSearchableIndex(name: "sync")
    let last = try? await index.fetchLastClientState()
    guard last != state else { return }
    index.beginBatch()
    index.fetchLastClientState { data, error in
        if error == nil, let data = data { print("state of \(data.count) bytes") }
    }
    try await index.indexSearchableItems(items)
    if #available(iOS 18, macOS 15, *) {
        try await index.endIndexBatch(expectedClientState: last, newClientState: state)
    } else {
        try await index.endBatch(withClientState: state)
    }
}
