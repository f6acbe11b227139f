// SPDX-License-Identifier: Apache-2.0

/// The properties of an element, looked up once per tag.
final class HTMLElement: Sendable {
    /// Groups of elements that close each other.
    struct Groups: OptionSet {
        let rawValue: UInt16
        static let paragraph = Groups(rawValue: 1)
        static let item = Groups(rawValue: 1 << 1)
        static let list = Groups(rawValue: 1 << 2)
        static let description = Groups(rawValue: 1 << 3)
        static let descriptionList = Groups(rawValue: 1 << 4)
        static let table = Groups(rawValue: 1 << 5)
        static let caption = Groups(rawValue: 1 << 6)
        static let cell = Groups(rawValue: 1 << 7)
        static let row = Groups(rawValue: 1 << 8)
        static let rowGroup = Groups(rawValue: 1 << 9)

        /// The elements where the search for an open paragraph stops.
        static let paragraphBoundary: Groups = [.caption, .table, .cell]
        /// The parts of a table. Their end tags also close elements that are open in a cell.
        static let tableParts: Groups = [.caption, .table, .rowGroup, .cell, .row]
    }

    /// The element's name in lower case.
    let name: String
    let disposition: HTMLElements.Disposition
    let groups: Groups
    let isVoid: Bool
    let isRaw: Bool
    /// `true` if the start tag ends an enclosing drawing or formula.
    let endsDrawing: Bool
    /// `true` if the start tag closes an open paragraph.
    let endsParagraph: Bool
    /// The elements that the start tag closes, and the elements where that search stops.
    let closes: (groups: Groups, boundary: Groups)?
    /// The element's opening `<name` and closing `</name>`.
    let opening, closing: [UInt8]

    private init(_ name: String) {
        self.name = name
        disposition = HTMLElements.disposition(of: name)
        groups = Self.groups(of: name)
        isVoid = HTMLElements.void.contains(name)
        isRaw = HTMLElements.raw.contains(name)
        endsDrawing = HTMLElements.endsDrawing.contains(name)
        endsParagraph = HTMLElements.endsParagraph.contains(name)
        closes =
            switch name {
            case "li": (.item, [.list, .table, .cell])
            case "dd", "dt": (.description, [.descriptionList, .table, .cell])
            case "td", "th": ([.cell, .caption], .table)
            case "tr": ([.row, .caption], .table)
            case "tbody", "thead", "tfoot": ([.rowGroup, .caption], .table)
            default: nil
            }
        opening = Array("<\(name)".utf8)
        closing = Array("</\(name)>".utf8)
    }

    private static let known = Dictionary(uniqueKeysWithValues: HTMLElements.names.map { ($0, HTMLElement($0)) })

    /// Returns the element with a lower-case name; unknown names are allowed.
    static func named(_ name: String) -> HTMLElement { known[name] ?? HTMLElement(name) }

    private static func groups(of name: String) -> Groups {
        switch name {
        case "p": .paragraph
        case "li": .item
        case "ul", "ol": .list
        case "dd", "dt": .description
        case "dl": .descriptionList
        case "table": .table
        case "caption": .caption
        case "td", "th": .cell
        case "tr": .row
        case "tbody", "thead", "tfoot": .rowGroup
        default: []
        }
    }
}
