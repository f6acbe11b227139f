// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Refuses a name that is empty, as a script gives whose variable was not set; `nil` is one that was not given.
///
/// - Throws: `ValidationError` with what was given so, and what to do.
package func refuseEmpty(_ name: String?, _ what: String, instead: String = "Leave it out, or name one.") throws {
    if name?.isEmpty == true { throw ValidationError("\(what) is empty. \(instead)") }
}
