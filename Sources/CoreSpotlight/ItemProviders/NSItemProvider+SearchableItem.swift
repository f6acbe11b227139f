// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

extension NSItemProvider {
    /// Creates a provider for an item's promises, for example for a dragged search result. An
    /// addition for Linux.
    ///
    /// It offers the types in `providerDataTypeIdentifiers`, `providerFileTypeIdentifiers` and
    /// `providerInPlaceFileTypeIdentifiers`, in this order. The delegate provides each on request.
    /// The suggested name is the item's name.
    ///
    /// - Parameters:
    ///   - item: An item with at least these attributes.
    ///   - index: The index that is passed to the delegate.
    ///   - delegate: The delegate that fulfils the promises. It is retained, and called off the
    ///     main thread.
    public convenience init(
        searchableItem item: CSSearchableItem, in index: CSSearchableIndex, delegate: any CSSearchableIndexDelegate
    ) {
        self.init()
        let attributes = item.attributeSet
        let identifier = item.uniqueIdentifier
        suggestedName = attributes.displayName ?? attributes.title
        // By contract, delegates may be called off the main thread, several times at once.
        let promiser = UncheckedBox(delegate)
        for type in attributes.providerDataTypeIdentifiers ?? [] {
            registerDataRepresentation(forTypeIdentifier: type, visibility: .all) { completion in
                do {
                    let data = try promiser.value.data(for: index, itemIdentifier: identifier, typeIdentifier: type)
                    // Apple's template returns empty data for unknown items.
                    completion(data.isEmpty ? nil : data, data.isEmpty ? Self.broken(identifier, type) : nil)
                } catch {
                    completion(nil, error)
                }
                return nil
            }
        }
        let files = (attributes.providerFileTypeIdentifiers ?? []).map { ($0, false) }
        let originals = (attributes.providerInPlaceFileTypeIdentifiers ?? []).map { ($0, true) }
        for (type, inPlace) in files + originals {
            registerFileRepresentation(
                forTypeIdentifier: type, fileOptions: inPlace ? .openInPlace : [], visibility: .all
            ) { completion in
                do {
                    let url = try promiser.value.fileURL(
                        for: index, itemIdentifier: identifier, typeIdentifier: type, inPlace: inPlace)
                    // Apple's template returns the URL "file://" for unknown items.
                    let isThere = url.isFileURL && !["", "/"].contains(url.path)
                    completion(isThere ? url : nil, false, isThere ? nil : Self.broken(identifier, type))
                } catch {
                    completion(nil, false, error)
                }
                return nil
            }
        }
    }

    private static func broken(_ identifier: String, _ type: String) -> NSError {
        error(
            .itemUnavailableError, "The item \"\(identifier)\" promised the type \(type), but its app returned nothing."
        )
    }
}
