// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

/// An employee of the company.
public struct Employee: Codable, Hashable, Sendable, Identifiable {
    /// The identifier, also of the item in the index.
    public var id: String
    /// The full name.
    public var name: String
    /// The title of the position.
    public var title: String
    /// The department.
    public var department: String
    /// The telephone number.
    public var phone: String?
    /// The address for electronic mail.
    public var mail: String?
    /// The end of a temporary contract; `nil` for a permanent one.
    public var contractEnd: Date?
    /// `true` if the employee is on the company's public pages.
    public var isPublic: Bool

    /// Creates an employee, with an identifier from the name.
    public init(
        name: String, title: String, department: String, phone: String? = nil, mail: String? = nil,
        contractEnd: Date? = nil, isPublic: Bool = false
    ) {
        id = name.slug
        (self.name, self.title, self.department) = (name, title, department)
        (self.phone, self.mail, self.contractEnd, self.isPublic) = (phone, mail, contractEnd, isPublic)
    }

    /// The title and the department, as one line.
    public var position: String { title.isEmpty ? department : "\(title), \(department)" }

    /// The card for other apps.
    public var card: VisitingCard {
        VisitingCard(
            name: name, title: title, organization: "Acme, \(department)", phone: phone, mail: mail)
    }

    /// `true` while the contract lasts.
    public func isEmployed(at moment: Date) -> Bool { contractEnd.map { $0 > moment } ?? true }
}

/// The employees by identifier, and the file in which the app keeps them.
public enum Staff {
    /// The identifier of the app.
    public static let bundle = "com.example.AcmeDirectory"
    /// The file. The extension only reads it.
    public static let file = JSONFile<[String: Employee]>("employees.json", of: bundle, empty: [:])

    /// The employees, in the order of their names.
    public static func all() throws -> [Employee] {
        try file.read().values.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }
}
