// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import ExtensionValidation

extension ValidationCheck {
    /// What cannot be judged in a build of tests: load-time's bars are for optimised programs on a quiet machine, and a
    /// sanitizer keeps memory that was freed, which looks like growth.
    static let unfit: Set<ValidationCheck> = Sanitizer.current == nil ? [.loadTime] : [.loadTime, .memoryGrowth]
    static let judgeable = Set(allCases).subtracting(unfit)
    /// For `--skip`.
    static let skipped = unfit.map(\.rawValue).sorted().joined(separator: ",")
}
