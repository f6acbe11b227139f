// SPDX-License-Identifier: Apache-2.0

/// The elements and attributes that are allowed in a preview. docs/EXTENSIONS.md contains the same
/// lists as a table.
enum HTMLElements {
    /// The treatment of an element.
    enum Disposition {
        /// The element is kept.
        case kept
        /// The element's tags are removed and its content is kept. Counted if a kind is given.
        case unwrapped(Removal.Kind?)
        /// The element is removed with its content.
        case removed(Removal.Kind)
        /// The element has no content and is removed. Counted if a kind is given.
        case dropped(Removal.Kind?)
    }

    static func disposition(of name: String) -> Disposition {
        if kept.contains(name) { return .kept }
        return others[name] ?? .unwrapped(.element)
    }

    static let names = kept.union(others.keys)

    /// The kept elements. The content of all of them is parsed as HTML, so all browsers interpret
    /// the result in the same way. `style` is only written by ``StyleFilter``.
    private static let kept: Set<String> = [
        "a", "abbr", "acronym", "address", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br", "caption",
        "center", "cite", "code", "col", "colgroup", "data", "dd", "del", "details", "dfn", "div", "dl", "dt", "em",
        "figcaption", "figure", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i",
        "img",
        "ins", "kbd", "li", "main", "mark", "nav", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section",
        "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
        "time",
        "tr", "tt", "u", "ul", "var", "wbr",
    ]

    private static let others: [String: Disposition] = [
        "html": .unwrapped(nil), "head": .unwrapped(nil), "body": .unwrapped(nil), "picture": .unwrapped(nil),
        // Scripts do not run, so the content of `noscript` is shown.
        "noscript": .unwrapped(nil), "label": .unwrapped(nil),
        "form": .unwrapped(.form), "fieldset": .unwrapped(.form), "legend": .unwrapped(nil),
        "button": .unwrapped(.form),
        "script": .removed(.script), "canvas": .removed(.script), "template": .removed(.element),
        "xmp": .removed(.element), "plaintext": .removed(.element), "title": .removed(.element),
        "style": .removed(.style), "svg": .removed(.drawing), "math": .removed(.drawing),
        "object": .removed(.plugin), "applet": .removed(.plugin), "noembed": .removed(.plugin),
        "iframe": .removed(.frame), "frameset": .removed(.frame), "noframes": .removed(.frame),
        "select": .removed(.form), "datalist": .removed(.form), "textarea": .removed(.form),
        "audio": .removed(.media), "video": .removed(.media),
        "frame": .dropped(.frame), "embed": .dropped(.plugin), "param": .dropped(nil), "input": .dropped(.form),
        "keygen": .dropped(.form), "source": .dropped(.media), "track": .dropped(.media), "bgsound": .dropped(.media),
        "meta": .dropped(nil), "base": .dropped(.base), "link": .dropped(.remoteLoad), "area": .dropped(.element),
        "basefont": .dropped(nil),
    ]

    static let void: Set<String> = ["br", "col", "hr", "img", "wbr"]

    /// The elements whose content is raw text up to the end tag.
    static let raw: Set<String> = [
        "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext",
    ]

    /// The start tags that end an enclosing drawing or formula.
    static let endsDrawing: Set<String> = [
        "blockquote", "body", "div", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "pre", "table", "ul",
    ]

    // MARK: Implied end tags

    /// The start tags that close an open paragraph.
    static let endsParagraph: Set<String> = [
        "address", "article", "aside", "blockquote", "center", "dd", "details", "div", "dl", "dt", "figcaption",
        "figure",
        "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "main", "nav", "ol", "p", "pre",
        "section", "summary", "table", "ul",
    ]

    // MARK: Attributes

    /// The check for an attribute's value.
    enum Value {
        /// Any text.
        case text
        /// Up to four digits, optionally with a percent sign.
        case number
        /// A colour by name or number.
        case colour
        /// The target of a link.
        case link
        /// The address of a picture.
        case picture
        /// Style declarations.
        case style
        /// Always written by the sanitiser.
        case own
    }

    static func value(of attribute: String, in element: String) -> Value? {
        // The most frequent attribute comes first.
        if attribute == "href" { return element == "a" ? .link : nil }
        if let value = global[attribute] { return value }
        switch (element, attribute) {
        case ("a", "rel"): return .own
        case ("img", "src"): return .picture
        case ("img", "alt"), ("bdo", "dir"), ("time", "datetime"), ("del", "datetime"), ("ins", "datetime"),
            ("data", "value"), ("ol", "type"), ("ul", "type"), ("ol", "reversed"), ("details", "open"), ("th", "scope"),
            ("th", "abbr"), ("td", "headers"), ("th", "headers"), ("table", "summary"), ("font", "face"):
            return .text
        case ("font", "color"), (_, "bgcolor"): return .colour
        case (_, "width"), (_, "height"), ("td", "colspan"), ("td", "rowspan"), ("th", "colspan"), ("th", "rowspan"),
            ("col", "span"), ("colgroup", "span"), ("ol", "start"), ("li", "value"), ("table", "border"),
            ("table", "cellpadding"), ("table", "cellspacing"), ("font", "size"), ("hr", "size"):
            return .number
        default: return nil
        }
    }

    private static let global: [String: Value] = [
        "class": .text, "id": .text, "title": .text, "lang": .text, "dir": .text, "hidden": .text, "align": .text,
        "valign": .text, "style": .style,
    ]

    /// The attributes whose addresses a browser would load.
    static let loading: Set<String> = [
        "src", "srcset", "background", "poster", "data", "xlink:href", "lowsrc", "dynsrc", "action", "formaction",
        "ping",
        "manifest", "imagesrcset",
    ]
}
