// SPDX-License-Identifier: Apache-2.0
import CMarkup

/// The reason why the rest of a document was not read.
package enum MarkupFault: Sendable, Equatable {
    /// An XML document is not well-formed.
    case damaged
    case tooDeep
    case tooLarge
}

/// Receives the elements and texts of an XML or HTML document. XML element names have no prefix.
///
/// Open, because readers in other modules subclass it.
open class MarkupVisitor {
    /// Creates a visitor that ignores everything. A visitor reads one document.
    public init() {}

    /// Called at the start of each element.
    open func start(_ name: String, _ attributes: MarkupAttributes) {}
    /// Called at the end of each element.
    open func end(_ name: String) {}
    /// Called with each piece of text, in UTF-8.
    open func text(_ bytes: UnsafeBufferPointer<UInt8>) {}

    /// Reads an XML document. Everything before a fault is visited.
    ///
    /// - Returns: The reason why the rest was not read; nil if everything was read.
    package final func read(xml: [UInt8]) -> MarkupFault? { read(xml, xml_read) }

    /// Reads an HTML document in UTF-8. Everything before a fault is visited.
    ///
    /// - Returns: The reason why the rest was not read; nil if everything was read.
    package final func read(html: [UInt8]) -> MarkupFault? { read(html, html_read) }

    private typealias Parser = (
        UnsafePointer<CChar>?, Int, UnsafePointer<markup_handler>?, UnsafeMutableRawPointer?
    ) -> markup_result

    private func read(_ source: [UInt8], _ parse: Parser) -> MarkupFault? {
        let handler = markup_handler(
            start: { context, name, attributes in
                MarkupVisitor.visitor(context)?.start(
                    name.map { String(cString: $0) } ?? "", MarkupAttributes(first: attributes))
            },
            end: { context, name in MarkupVisitor.visitor(context)?.end(name.map { String(cString: $0) } ?? "") },
            text: { context, text, length in
                text?.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
                    MarkupVisitor.visitor(context)?.text(UnsafeBufferPointer(start: bytes, count: length))
                }
            })
        let result = withExtendedLifetime(self) {
            source.withUnsafeBytes { bytes in
                withUnsafePointer(to: handler) { handler in
                    parse(
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, handler,
                        Unmanaged.passUnretained(self).toOpaque())
                }
            }
        }
        switch result {
        case MARKUP_READ: return nil
        case MARKUP_TOO_DEEP: return .tooDeep
        case MARKUP_TOO_LARGE: return .tooLarge
        default: return .damaged
        }
    }

    private static func visitor(_ context: UnsafeMutableRawPointer?) -> MarkupVisitor? {
        context.map { Unmanaged<MarkupVisitor>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// The attributes of an element, valid during the call that passes them.
public struct MarkupAttributes {
    fileprivate let first: UnsafePointer<UnsafePointer<CChar>?>?

    /// Returns the value of an attribute by its name without a prefix.
    package subscript(_ name: String) -> String? {
        guard var attribute = first else { return nil }
        while let key = attribute.pointee {
            let key = String(cString: key)
            let local = key.utf8.lastIndex(of: UInt8(ascii: ":")).map { key[key.utf8.index(after: $0)...] } ?? key[...]
            if local == name { return attribute[1].map { String(cString: $0) } }
            attribute += 2
        }
        return nil
    }

    /// Returns `true` if the attribute exists, even without a value.
    package func has(_ name: String) -> Bool {
        guard var attribute = first else { return false }
        while let key = attribute.pointee {
            if String(cString: key) == name { return true }
            attribute += 2
        }
        return false
    }

    /// Returns the value of an attribute that has a prefix, such as `r:id` as opposed to `id`.
    package subscript(prefixed name: String) -> String? {
        guard var attribute = first else { return nil }
        while let key = attribute.pointee {
            if String(cString: key).hasSuffix(":" + name) { return attribute[1].map { String(cString: $0) } }
            attribute += 2
        }
        return nil
    }

    /// Calls the body with each name, including its prefix, and its value.
    package func forEach(_ body: (_ name: String, _ value: String) -> Void) {
        guard var attribute = first else { return }
        while let key = attribute.pointee {
            body(String(cString: key), attribute[1].map { String(cString: $0) } ?? "")
            attribute += 2
        }
    }
}
