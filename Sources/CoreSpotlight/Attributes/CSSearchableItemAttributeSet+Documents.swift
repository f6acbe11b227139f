// SPDX-License-Identifier: Apache-2.0

import Foundation

// Documents of any kind.
extension CSSearchableItemAttributeSet {
    /// The subject of the document.
    public var subject: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The theme of the document.
    public var theme: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A short description of the content, shown as the second line of a result.
    public var contentDescription: String? {
        get { value() }
        set { store(newValue) }
    }

    /// A formal identifier, such as an ISBN.
    public var identifier: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The intended audiences of the document.
    public var audiences: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The size of the file, in megabytes of 1,000,000 bytes. The filter `larger:50MB` compares
    /// this number.
    ///
    /// ```swift
    /// attributes.fileSize = NSNumber(value: Double(bytes) / 1_000_000)
    /// ```
    public var fileSize: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The number of pages.
    public var pageCount: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The width of the first page, in points.
    public var pageWidth: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The height of the first page, in points.
    public var pageHeight: NSNumber? {
        get { value() }
        set { store(newValue) }
    }

    /// The encryption method of the document.
    public var securityMethod: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The program that created the content.
    public var creator: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The programs that converted the document to its current form.
    public var encodingApplications: [String]? {
        get { value() }
        set { store(newValue) }
    }

    /// The kind of document, as text.
    public var kind: String? {
        get { value() }
        set { store(newValue) }
    }

    /// The names of the fonts in the document.
    public var fontNames: [String]? {
        get { value() }
        set { store(newValue) }
    }
}
