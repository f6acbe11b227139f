// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func titles(_ suggestions: [CSUserQuery.Suggestion]) -> [String] {
    suggestions.map { String($0.suggestion.localizedAttributedSuggestion.characters) }
}

func emptyQuery() -> CSUserQuery { CSUserQuery(userQueryString: nil, userQueryContext: nil) }
