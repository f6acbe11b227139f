// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func mediaAttributes(size: Int64, seconds: Double) -> CSSearchableItemAttributeSet {
    let attributes = CSSearchableItemAttributeSet(contentType: .movie)
    attributes.userCurated = true
    attributes.userCreated = false
    attributes.rating = NSNumber(value: 5)
    attributes.fileSize = size as NSNumber
    attributes.duration = NSNumber(value: seconds)
    attributes.latitude = NSNumber(floatLiteral: 59.9)
    attributes.longitude = 10.7
    attributes.rankingHint = 50
    attributes.supportsNavigation = 1
    return attributes
}
