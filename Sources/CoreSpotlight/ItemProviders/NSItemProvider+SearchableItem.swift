// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

extension NSItemProvider {
    /// A provider of what an item of the index promised, as results that are dragged have it: the types of
    /// `providerDataTypeIdentifiers`, `providerFileTypeIdentifiers` and `providerInPlaceFileTypeIdentifiers`, in this order,
    /// each made by the delegate when it is wanted. The name is that of the item. An addition for Linux.
    ///
    /// - Parameters:
    ///   - item: an item with at least these attributes.
    ///   - index: what the delegate is told the item is in.
    ///   - delegate: who fulfils the promises; retained. It is asked off the main thread.
    public convenience init(
        searchableItem item: CSSearchableItem, in index: CSSearchableIndex, delegate: any CSSearchableIndexDelegate
    ) {
        self.init()
        let attributes = item.attributeSet
        let identifier = item.uniqueIdentifier
        suggestedName = attributes.displayName ?? attributes.title
        // Delegates are asked off the main thread, several times at once, by contract.
        let promiser = HandedOn(delegate)
        for type in attributes.providerDataTypeIdentifiers ?? [] {
            registerDataRepresentation(forTypeIdentifier: type, visibility: .all) { completion in
                do {
                    let data = try promiser.value.data(for: index, itemIdentifier: identifier, typeIdentifier: type)
                    // Apple's template answers for unknown items with empty data.
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
                    // Apple's template answers for unknown items with the URL "file://".
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
            .itemUnavailableError, "The app has nothing of type \(type) for item \"\(identifier)\", which promised it.")
    }
}
