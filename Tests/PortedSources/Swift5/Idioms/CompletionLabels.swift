// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func forgetAll(then done: (@Sendable (Error?) -> Void)?) {
    CSSearchableIndex.default().deleteAllSearchableItems(completionHandler: done)
    CSSearchableIndex.default().indexSearchableItems([], completionHandler: nil)
    CSSearchableIndex.default().deleteSearchableItems(withIdentifiers: ["a"], completionHandler: done)
    CSSearchableIndex.default().deleteSearchableItems(withDomainIdentifiers: ["a.b"]) { (error) -> Void in
        if error == nil { print("gone") }
    }
}
