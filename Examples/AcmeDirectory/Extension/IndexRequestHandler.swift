// SPDX-License-Identifier: Apache-2.0
import AcmeRecords
import CoreSpotlight
import ExampleSupport

/// The index extension: donates the employees, provides their cards and renders their pages while
/// the app does not run.
///
/// Each request reads the app's file again, so requests can run concurrently.
final class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        // An error leaves the request unacknowledged, so the host repeats it.
        guard let employees = employees()?.values else { return }
        searchableIndex.deleteAllSearchableItems { error in
            guard error == nil else { return }
            searchableIndex.indexSearchableItems(employees.map(\.searchableItem)) { error in
                if error == nil { acknowledgementHandler() }
            }
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        guard let employees = employees() else { return }
        let present = identifiers.compactMap { employees[$0] }
        searchableIndex.deleteSearchableItems(withIdentifiers: identifiers.filter { employees[$0] == nil }) { error in
            guard error == nil else { return }
            searchableIndex.indexSearchableItems(present.map(\.searchableItem)) { error in
                if error == nil { acknowledgementHandler() }
            }
        }
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        guard let data = try employee(itemIdentifier).data(ofType: typeIdentifier) else {
            throw CocoaError(.featureUnsupported)
        }
        return data
    }

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let employee = try employee(identifier)
        return QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            reply.title = employee.name
            return Data(employee.body.utf8)
        }
    }

    private func employee(_ identifier: String) throws -> Employee {
        guard let employee = try Staff.file.read()[identifier] else { throw CocoaError(.fileNoSuchFile) }
        return employee
    }

    /// The employees with a contract; `nil` if the file cannot be read now.
    private func employees() -> [String: Employee]? {
        do { return try Staff.file.read().filter { $0.value.isEmployed(at: Date()) } } catch {
            FileHandle.standardError.write(Data("The employees cannot be read: \(error)\n".utf8))
            return nil
        }
    }
}
