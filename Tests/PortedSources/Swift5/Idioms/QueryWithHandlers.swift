// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

class SearchController {
    private var query: CSSearchQuery?
    private(set) var results = [CSSearchableItem]()

    func search(_ text: String) {
        query?.cancel()
        results = []
        let context = CSSearchQueryContext()
        context.fetchAttributes = ["title", "displayName", "thumbnail data"]
        context.filterQueries = ["domainIdentifier == 'notes.*'"]
        let query = CSSearchQuery(queryString: contains(text), queryContext: context)
        query.foundItemsHandler = { [weak self] (items: [CSSearchableItem]) -> Void in
            self?.results.append(contentsOf: items)
        }
        query.completionHandler = { (error) -> Void in
            if let error = error as NSError?, error.domain == CSSearchQueryErrorDomain {
                print(error.code == CSSearchQueryError.Code.cancelled.rawValue)
            }
        }
        query.start()
        self.query = query
    }
}
