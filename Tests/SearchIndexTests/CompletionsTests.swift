// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import Testing

@testable import SearchIndex

@Suite("Completions of what is typed")
struct CompletionsTests {
    @Test("A text that is longer than a search looks at is not completed, or each suggestion would repeat it")
    func longText() {
        let spaces = String(repeating: " ", count: UserQuery.maximumBytes - 2)
        #expect(WordBeingTyped(spaces + "fo") != nil)
        #expect(WordBeingTyped(spaces + "fo" + spaces + "fo") == nil)
    }
}
