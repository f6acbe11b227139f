// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

// Clients write `@retroactive` too, which the compiler refuses within one package.
extension CSSearchableItem: @unchecked Sendable {}
extension CSSearchableItemAttributeSet: @unchecked Sendable {}
