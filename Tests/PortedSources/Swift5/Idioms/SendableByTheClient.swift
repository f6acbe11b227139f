// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

// Clients also write `@retroactive`, which the compiler rejects within one package.
extension CSSearchableItem: @unchecked Sendable {}
extension CSSearchableItemAttributeSet: @unchecked Sendable {}
