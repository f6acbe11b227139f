// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import UserSearch

/// Counts a use of an item that a search found. Returns the number of counted reports, 0 or 1.
///
/// ```swift
/// try await store.perform(EngageCall(Engagement(item: 12, text: "quart", kind: .open)))
/// ```
package struct EngageCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "count uses of items" }
    var engagement: Engagement

    package init(_ engagement: Engagement) { self.engagement = engagement }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.countEngagement([engagement])
    }
}

/// Lists the use counts, largest first.
package struct HistoryCall: EngineCall {
    package var purpose: String { "list the counts of use" }
    var offset: Int
    var limit: Int

    /// The maximum number of items in one answer. The client requests the rest with further calls.
    static let maximumItems = 1000

    package init(offset: Int, limit: Int) { (self.offset, self.limit) = (offset, limit) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> EngagementHistory {
        try await engine.engagementHistory(from: max(0, offset), limit: max(0, min(limit, Self.maximumItems)))
    }

    /// Returns the first half of the entries.
    package static func half(of answer: EngagementHistory) -> EngagementHistory? {
        guard answer.entries.count > 1 else { return nil }
        var half = answer
        half.entries.removeLast(answer.entries.count / 2)
        return half
    }
}

/// Erases all use counts. Returns the number of items that had use counts.
package struct ClearHistoryCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "erase the counts of use" }

    package init() {}

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.clearEngagement()
    }
}

/// Switches counting on or off. Returns `true` if this changed the setting.
package struct SetLearningCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { isOn ? "start counting uses" : "stop counting uses" }
    var isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Bool {
        try await engine.setLearning(isOn)
    }
}

extension EngineClient {
    /// Counts a use of an item. Errors are ignored, since no command should fail because of a
    /// missing count.
    package func count(_ engagement: Engagement) async {
        _ = try? await perform(EngageCall(engagement))
    }

    /// Returns the use counts, largest first.
    ///
    /// - Parameter limit: The maximum number of items.
    package func history(limit: Int) async throws(EngineError) -> EngagementHistory {
        var history = try await perform(HistoryCall(offset: 0, limit: limit))
        while history.entries.count < min(limit, history.total) {
            // An answer may have fewer entries than requested.
            let count = history.entries.count
            let more = try await perform(HistoryCall(offset: count, limit: limit - count))
            guard !more.entries.isEmpty else { break }
            history.entries += more.entries
        }
        return history
    }
}
