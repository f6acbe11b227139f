// SPDX-License-Identifier: Apache-2.0

import SymbolBindings
import Testing

@Suite("A scalar type")
struct ScalarTypeTests {
    @Test("has the size of its name", arguments: ScalarType.allCases)
    func size(type: ScalarType) {
        #expect(String(type.byteCount * 8) == type.rawValue.dropFirst())
    }
}
