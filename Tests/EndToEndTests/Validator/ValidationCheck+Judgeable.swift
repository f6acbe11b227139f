// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import ExtensionValidation

extension ValidationCheck {
    /// Checks that a test build cannot judge. The limits of `load-time` are for optimised programs
    /// on an idle machine, and a sanitizer keeps freed memory, which looks like a leak.
    static let unfit: Set<ValidationCheck> = Sanitizer.current == nil ? [.loadTime] : [.loadTime, .memoryGrowth]
    static let judgeable = Set(allCases).subtracting(unfit)
    /// The value for `--skip`.
    static let skipped = unfit.map(\.rawValue).sorted().joined(separator: ",")
}
