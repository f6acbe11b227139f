// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Rejects an empty name, for example from a script with an unset variable. Accepts `nil` for an
/// absent name.
///
/// - Throws: `ValidationError` with the argument's name and a remedy.
package func refuseEmpty(_ name: String?, _ what: String, instead: String = "Leave it out, or name one.") throws {
    if name?.isEmpty == true { throw ValidationError("\(what) is empty. \(instead)") }
}
