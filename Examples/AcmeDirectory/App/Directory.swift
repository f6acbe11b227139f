// SPDX-License-Identifier: Apache-2.0
import AcmeRecords
import CoreSpotlight
import DesktopApp
import ExampleSupport

/// The commands of the app. Each changes the file first and the index second, so that the index
/// never has an employee that the app does not know.
struct Directory: TerminalApp {
    static let identifier = Staff.bundle
    static let switches: Set<String> = ["--public"]

    let index = CSSearchableIndex.default()
    let shown = ShownLines(of: identifier)

    func execute(_ words: CommandWords) async throws {
        switch words.name {
        case "add": try await add(words)
        case "remove": try await remove(words.text)
        case "close": try await close(words.text)
        case "donate": try await donate()
        case "list": for employee in try Staff.all() { show("\(employee.id)\t\(employee.name)") }
        case "show": try await view(words.text)
        case "find": for item in try await find(words.text, in: words["department"]) { show(Self.line(item)) }
        case "publish": try publish(words.text)
        case "last": for line in try shown.all() { show(line) }
        default:
            throw CommandError(
                """
                Unknown command. Commands: add NAME --title T --department D [--phone P] [--mail M] \
                [--until YYYY-MM-DD] [--public], remove ID, close DEPARTMENT, donate, list, show ID, \
                find TEXT [--department D], publish FOLDER, last.
                """)
        }
    }

    // MARK: Donating

    private func add(_ words: CommandWords) async throws {
        guard !words.text.slug.isEmpty, let department = words["department"], !department.slug.isEmpty else {
            throw CommandError("An employee needs a name and --department.")
        }
        let until = try words["until"].map { text in
            guard let date = try? Date(text, strategy: .iso8601.year().month().day()) else {
                throw CommandError("--until is a date, such as 2027-01-31.")
            }
            return date
        }
        let employee = Employee(
            name: words.text, title: words["title"] ?? "", department: department, phone: words["phone"],
            mail: words["mail"], contractEnd: until, isPublic: words.has("public"))
        try Staff.file.change { $0[employee.id] = employee }
        if employee.isEmployed(at: Date()) { try await index.indexSearchableItems([employee.searchableItem]) }
        show("added \(employee.id)")
    }

    /// Donates everybody. The extension does the same while the app does not run.
    private func donate() async throws {
        let items = try Staff.all().filter { $0.isEmployed(at: Date()) }.map(\.searchableItem)
        try await index.indexSearchableItems(items)
        show("donated \(items.count)")
    }

    private func remove(_ id: String) async throws {
        guard try Staff.file.change({ $0.removeValue(forKey: id) }) != nil else {
            throw CommandError("There is no employee \(id).")
        }
        // The activities that name the item as related go with it.
        try await index.deleteSearchableItems(withIdentifiers: [id])
        show("removed \(id)")
    }

    /// Closes a department: its domain has the items of all its employees.
    private func close(_ department: String) async throws {
        let domain = Employee.domain(of: department)
        try Staff.file.change { staff in
            staff = staff.filter { Employee.domain(of: $0.value.department) != domain }
        }
        try await index.deleteSearchableItems(withDomainIdentifiers: [domain])
        show("closed \(domain)")
    }

    // MARK: Viewing

    /// Shows an employee, and donates the activity, so that the employee is found among the recent
    /// ones and counts as used.
    func view(_ id: String) async throws {
        guard let employee = try Staff.file.read()[id] else { throw CommandError("There is no employee \(id).") }
        let activity = ViewActivity.make(of: employee)
        activity.becomeCurrent()
        try shown.add("employee \(id)")
        show(employee.card.text)
        // Requests are executed in their order, so the activity is durable after this one.
        let update = employee.searchableItem
        update.isUpdate = true
        update.attributeSet.lastUsedDate = Date()
        try await index.indexSearchableItems([update])
        activity.resignCurrent()
    }

    private func publish(_ folder: String) throws {
        let url = URL(filePath: folder, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let employees = try Staff.all().filter { $0.isPublic && $0.isEmployed(at: Date()) }
        for employee in employees {
            try Data(employee.html.utf8).write(to: url.appending(path: employee.id + ".html"), options: .atomic)
        }
        show("published \(employees.count)")
    }

    // MARK: Searching

    /// Searches the index for employees, in all departments or in one.
    func find(_ text: String, in department: String? = nil) async throws -> [CSSearchableItem] {
        let context = CSSearchQueryContext()
        context.fetchAttributes = ["title", "contentDescription", "lastUsedDate"]
        let domain = department.map { Employee.domain(of: $0) } ?? Employee.domain + ".*"
        context.filterQueries = ["domainIdentifier == \"\(domain)\""]
        // The text may begin any word of the name, the title or the department.
        let value = text.escapedForQuery
        let attributes = ["title", "contentDescription", "emailAddresses"]
        let query = CSSearchQuery(
            queryString: attributes.map { "\($0) == \"\(value)*\"cdw" }.joined(separator: " || "),
            queryContext: context)
        var found: [CSSearchableItem] = []
        for try await result in query.results { found.append(result.item) }
        return found
    }

    static func line(_ item: CSSearchableItem) -> String {
        "\(item.uniqueIdentifier)\t\(item.attributeSet.title ?? "")\t\(item.attributeSet.contentDescription ?? "")"
    }
}
