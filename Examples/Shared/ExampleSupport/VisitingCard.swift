// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The facts of a contact that other apps can take, in the forms in which they take them.
public struct VisitingCard: Sendable {
    /// The full name.
    public var name: String
    /// The lines below the name, such as the title and the company.
    public var title: String
    /// The company or group.
    public var organization: String
    /// The telephone number.
    public var phone: String?
    /// The address for electronic mail.
    public var mail: String?

    /// Creates a card.
    public init(name: String, title: String, organization: String, phone: String? = nil, mail: String? = nil) {
        (self.name, self.title, self.organization) = (name, title, organization)
        (self.phone, self.mail) = (phone, mail)
    }

    /// The card as a vCard 4.0 (RFC 6350), with the picture of the name.
    public var vCard: String {
        var lines = ["BEGIN:VCARD", "VERSION:4.0", "FN:\(escaped(name))"]
        if !title.isEmpty { lines.append("TITLE:\(escaped(title))") }
        if !organization.isEmpty { lines.append("ORG:\(escaped(organization))") }
        if let phone { lines.append("TEL:\(escaped(phone))") }
        if let mail { lines.append("EMAIL:\(escaped(mail))") }
        lines.append("END:VCARD")
        return lines.map { $0 + "\r\n" }.joined()
    }

    /// The card as lines of text.
    public var text: String {
        [name, title, organization, phone ?? "", mail ?? ""].filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
    }

    private func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing(",", with: "\\,").replacing(";", with: "\\;")
            .replacing("\n", with: "\\n")
    }
}
