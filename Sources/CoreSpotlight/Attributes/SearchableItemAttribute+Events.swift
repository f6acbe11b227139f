// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/allDay``
    public static let allDay = SearchableItemAttribute(rawValue: "allDay")
    /// ``CSSearchableItemAttributeSet/completionDate``
    public static let completionDate = SearchableItemAttribute(rawValue: "completionDate")
    /// ``CSSearchableItemAttributeSet/dueDate``
    public static let dueDate = SearchableItemAttribute(rawValue: "dueDate")
    /// ``CSSearchableItemAttributeSet/endDate``
    public static let endDate = SearchableItemAttribute(rawValue: "endDate")
    /// ``CSSearchableItemAttributeSet/importantDates``
    public static let importantDates = SearchableItemAttribute(rawValue: "importantDates")
    /// ``CSSearchableItemAttributeSet/startDate``
    public static let startDate = SearchableItemAttribute(rawValue: "startDate")
}
