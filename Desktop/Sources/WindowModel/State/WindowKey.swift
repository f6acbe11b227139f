// SPDX-License-Identifier: Apache-2.0

/// A key press that the window may handle before the search field.
package struct WindowKey: Hashable, Sendable {
    /// The keys.
    package enum Code: Hashable, Sendable {
        case up, down, left, right, pageUp, pageDown, home, end, enter, escape, space, tab
        /// A letter key, in lowercase.
        case letter(Character)
    }

    /// The key.
    package var code: Code
    /// `true` if the Control key is held.
    package var isControl: Bool
    /// `true` if the Shift key is held.
    package var isShift: Bool
    /// `true` if text is selected in the search field or the preview, which Control-C then copies.
    package var hasSelectedText: Bool

    package init(_ code: Code, isControl: Bool = false, isShift: Bool = false, hasSelectedText: Bool = false) {
        (self.code, self.isControl, self.isShift) = (code, isControl, isShift)
        self.hasSelectedText = hasSelectedText
    }
}
