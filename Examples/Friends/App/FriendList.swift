// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp
import ExampleSupport
import FriendRecords

/// The commands of the app.
struct FriendList: TerminalApp {
    static let identifier = AddressBook.bundle
    static let switches: Set<String> = []

    let index = CSSearchableIndex.default()
    let shown = ShownLines(of: identifier)

    func execute(_ words: CommandWords) async throws {
        switch words.name {
        case "add": try await add(words)
        case "remove": try await remove(words.text)
        case "donate": try await donate()
        case "list": for friend in try AddressBook.file.read().values.sorted(by: { $0.id < $1.id }) { show(friend.id) }
        case "show": try view(words.text)
        case "call": try await use(words.text, to: .call)
        case "write": try await use(words.text, to: .write)
        case "forget-calls": await forgetActivities()
        case "find": for item in try await find(words.text) { show(Self.line(item)) }
        case "last": for line in try shown.all() { show(line) }
        default:
            throw CommandError(
                """
                Unknown command. Commands: add NAME --group G [--phone P] [--mail M], remove ID, donate, list, \
                show ID, call ID, write ID, forget-calls, find TEXT, last.
                """)
        }
    }

    // MARK: Donating

    private func add(_ words: CommandWords) async throws {
        guard !words.text.slug.isEmpty else { throw CommandError("A friend needs a name.") }
        var friend = Friend(
            name: words.text, group: words["group"] ?? "friends", phone: words["phone"], mail: words["mail"])
        try AddressBook.file.change { friends in
            // A new number does not make the app forget how often it was used.
            if let known = friends[friend.id] { (friend.uses, friend.lastUse) = (known.uses, known.lastUse) }
            friends[friend.id] = friend
        }
        try await index.indexSearchableItems([friend.searchableItem])
        show("added \(friend.id)")
    }

    private func donate() async throws {
        let friends = try AddressBook.file.read().values
        try await index.indexSearchableItems(friends.map(\.searchableItem))
        show("donated \(friends.count)")
    }

    private func remove(_ id: String) async throws {
        guard try AddressBook.file.change({ $0.removeValue(forKey: id) }) != nil else {
            throw CommandError("There is no friend \(id).")
        }
        // Activities are only weakly related, so the history of calls stays.
        try await index.deleteSearchableItems(withIdentifiers: [id])
        show("removed \(id)")
    }

    // MARK: Using

    /// Calls a friend or writes to them. The use is an activity, and changes the friend's rank.
    private func use(_ id: String, to action: FriendAction) async throws {
        let now = Date()
        let friend = try AddressBook.file.change { friends -> Friend? in
            friends[id]?.uses += 1
            friends[id]?.lastUse = now
            return friends[id]
        }
        guard let friend else { throw CommandError("There is no friend \(id).") }
        let activity = action.activity(with: friend)
        activity.becomeCurrent()
        show("\(action.rawValue) \(friend.name) \((action == .call ? friend.phone : friend.mail) ?? "")")
        // An update changes these attributes and no others.
        let attributes = CSSearchableItemAttributeSet()
        attributes.rankingHint = NSNumber(value: friend.rankingHint)
        attributes.lastUsedDate = now
        let update = CSSearchableItem(uniqueIdentifier: id, domainIdentifier: nil, attributeSet: attributes)
        update.isUpdate = true
        update.expirationDate = .distantFuture
        try await index.indexSearchableItems([update])
        activity.resignCurrent()
    }

    private func forgetActivities() async {
        await NSUserActivity.deleteAllSavedUserActivities()
        show("forgotten")
    }

    // MARK: Searching and viewing

    func view(_ id: String) throws {
        guard let friend = try AddressBook.file.read()[id] else { throw CommandError("There is no friend \(id).") }
        try shown.add("friend \(id)")
        show(friend.card.text)
    }

    /// Searches as the user types, best friends first.
    func find(_ text: String) async throws -> [CSSearchableItem] {
        let context = CSUserQueryContext()
        context.fetchAttributes = ["title", "rankingHint"]
        context.filterQueries = ["contentType == \"\(UTType.contact.identifier)\""]
        context.maxResultCount = 20
        let query = CSUserQuery(userQueryString: text, userQueryContext: context)
        var found: [CSSearchableItem] = []
        for try await result in query.results { found.append(result.item) }
        return found
    }

    static func line(_ item: CSSearchableItem) -> String {
        "\(item.uniqueIdentifier)\t\(item.attributeSet.title ?? "")\t\(item.attributeSet.rankingHint ?? 0)"
    }
}
