// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import ManualReading

extension ManualFile {
    /// Returns the item for the manual. The item for an additional name of a page has no text, so
    /// that a search finds each page once.
    func item(_ content: ManualContent) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        let title = title(content)
        let text = content.isAlias ? "" : content.text
        attributes.title = title
        attributes.displayName = title
        if !text.isEmpty { attributes.textContent = text }
        if let summary = content.summary { attributes.contentDescription = summary }
        if let volume = content.volume { attributes.subject = volume }
        if let language { attributes.languages = [language] }
        if content.sections > 0 { attributes.pageCount = NSNumber(value: content.sections) }
        setFileAttributes(attributes, contentType: contentType)
        attributes.alternateNames = [fileName] + (content.isAlias ? [] : content.names)
        if let address { attributes.contentURL = address }
        attributes.setMissingText(Int64(content.missing))
        attributes.providerDataTypeIdentifiers = dataTypes(content)
        attributes.providerFileTypeIdentifiers = [fileType(content)]
        attributes.providerInPlaceFileTypeIdentifiers = [fileType(content)]
        var made = FileItem(item(attributes), size: text.utf8.count + 1024)
        let name = path.onOneLine
        if let problem = content.problem {
            made.remarks = ["\(name): \(problem.kind); indexed \(text.isEmpty ? "without text" : "in part")"]
            made.limitations = [text.isEmpty ? "without text" : "indexed in part"]
            made.leftOut = problem.kind
        }
        if content.missing > 0 {
            made.remarks.append("\(name) is indexed in part: \(content.missing) bytes are left out")
        }
        return made
    }

    func title(_ content: ManualContent) -> String {
        switch kind.format {
        case .page: ownTitle
        case .info(let name, let part):
            if let title = content.title, part == nil, title.localizedCaseInsensitiveContains(name) {
                title
            } else {
                [ownTitle, content.title].compactMap { $0 }.joined(separator: ": ")
            }
        case .html:
            if let title = content.title, let package = directories.first {
                "\(package): \(title)"
            } else {
                content.title ?? ownTitle
            }
        case .text, .markdown: ownTitle
        }
    }

    /// The uniform type of the manual itself, even if the file is compressed.
    var contentType: String {
        switch kind.format {
        case .page: "org.gnu.groff.manual-page"
        case .info: "org.gnu.texinfo.info"
        case .html: UTType.html.identifier
        case .markdown: "net.daringfireball.markdown"
        case .text: UTType.plainText.identifier
        }
    }

    /// The URL that the desktops' viewers open; nil for files.
    private var address: URL? {
        switch kind.format {
        case .page(let name, let section):
            // Translations and pages in additional folders cannot be opened by name.
            Self.encoded(name).flatMap { URL(string: "man:\($0)(\(section))") }
        case .info(let name, _): Self.encoded(name).flatMap { URL(string: "info:\($0)") }
        case .text, .markdown, .html: nil
        }
    }

    private static func encoded(_ name: String) -> String? {
        name.addingPercentEncoding(withAllowedCharacters: unreserved)
    }

    /// The characters of a name that an address contains unchanged.
    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._+:"))

    /// Returns the types in which the contents are delivered, the most faithful first.
    private func dataTypes(_ content: ManualContent) -> [String] {
        content.blocks.isEmpty
            ? [] : [UTType.html.identifier, UTType.utf8PlainText.identifier].filter { $0 != fileType(content) }
    }

    /// Returns the type in which the file is promised.
    func fileType(_ content: ManualContent) -> String {
        if content.problem == .damaged || content.problem == .notText { return UTType.data.identifier }
        switch kind.compression {
        case .gzip: return "org.gnu.gnu-zip-archive"
        case .bzip2: return "public.bzip2-archive"
        case .xz: return "org.tukaani.xz-archive"
        case .lzma, .zstandard: return UTType.data.identifier
        case nil: return content.reading == .utf8 ? contentType : UTType.text.identifier
        }
    }
}
