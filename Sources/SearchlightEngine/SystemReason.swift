// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Why Foundation could not do something, to be put into a sentence: what the system said, since Foundation itself often says
/// only that something could not be completed. From any thread.
package func systemReason(of error: any Error) -> String {
    if let system = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? NSError,
        system.domain == NSPOSIXErrorDomain,
        let reason = strerror(Int32(truncatingIfNeeded: system.code))
    {
        return String(cString: reason)
    }
    return withoutFullStop(error.localizedDescription)
}

/// A sentence, to be put into a longer one.
func withoutFullStop(_ sentence: String) -> String { sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence }
