// SPDX-License-Identifier: Apache-2.0

extension WindowState {
    /// The number of rows by which Page Up and Page Down move.
    static let pageLength = 8

    /// Handles a key press.
    ///
    /// - Returns: The effects; `nil` to pass the key on to the search field.
    package mutating func press(_ key: WindowKey) -> [WindowEffect]? {
        if key.isControl { return pressWithControl(key) }
        switch key.code {
        case .down: return move(by: 1)
        case .up: return move(by: -1)
        case .left: return moveAside(by: -1)
        case .right: return moveAside(by: 1)
        case .pageDown: return move(by: Self.pageLength)
        case .pageUp: return move(by: -Self.pageLength)
        case .home: return isBrowsing ? selectBrowsing(0) : nil
        case .end: return isBrowsing ? selectBrowsing(results.rows.count - 1) : nil
        case .enter:
            if case .suggestion(let index) = selection { return choose(index) }
            return open()
        case .space:
            guard isPreviewLarge || isBrowsing && selectedRow != nil else { return nil }
            isPreviewLarge.toggle()
            return []
        case .tab:
            guard !key.isShift, !suggestions.isEmpty else { return nil }
            if case .suggestion(let index) = selection { return choose(index) }
            return choose(0)
        case .escape:
            if isPreviewLarge {
                isPreviewLarge = false
                return []
            }
            return text.isEmpty ? [.close] : [.setField("")] + take(.typed(""))
        case .letter: return nil
        }
    }

    private mutating func pressWithControl(_ key: WindowKey) -> [WindowEffect]? {
        switch key.code {
        case .letter("f"), .letter("l"):
            isPreviewLarge = false
            return [.focusField]
        case .letter("c"):
            guard !key.hasSelectedText, let row = selectedRow else { return nil }
            return [.findCopy(item: row.id)]
        case .letter("q"): return [.quit]
        case .letter("w"): return [.close]
        case .home: return selectBrowsing(0)
        case .end: return selectBrowsing(results.rows.count - 1)
        default: return nil
        }
    }

    /// Moves the selection up or down. The suggestions form a line above the rows.
    private mutating func move(by step: Int) -> [WindowEffect] {
        switch selection {
        case .suggestion:
            selection = .none
            guard step > 0 else {
                isBrowsing = false
                return [.focusField]
            }
            return selectBrowsing(0)
        case .none: return step > 0 ? selectBrowsing(0) : moveToSuggestions()
        case .row(0) where step < 0: return moveToSuggestions()
        case .row(let index): return selectBrowsing(max(0, min(index + step, results.rows.count - 1)))
        }
    }

    private mutating func moveToSuggestions() -> [WindowEffect] {
        isBrowsing = false
        guard !suggestions.isEmpty else { return [.focusField] }
        selection = .suggestion(0)
        return []
    }

    /// Moves between suggestions; `nil` if none is selected.
    private mutating func moveAside(by step: Int) -> [WindowEffect]? {
        guard case .suggestion(let index) = selection else { return nil }
        selection = .suggestion(max(0, min(index + step, suggestions.count - 1)))
        return []
    }

    private mutating func selectBrowsing(_ index: Int) -> [WindowEffect] {
        guard !results.rows.isEmpty else { return [] }
        isBrowsing = true
        return select(index)
    }
}
