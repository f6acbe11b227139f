// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The description of a result for GNOME Shell, which calls it a meta.
///
/// The shell drops all results from a provider if the number of descriptions differs from the
/// number requested, so a result that no longer exists has a description too (``gone(_:)``). The
/// shell would copy `clipboardText` when the user opens a result, so the descriptions have none.
package enum ShellMeta {
    /// The maximum number of results that one call describes. The shell displays five.
    package static let maximumResults = 100
    /// The maximum size of a picture, and of all pictures in an answer, in bytes.
    package static let (maximumPictureBytes, maximumPicturesBytes) = (512 << 10, 2 << 20)

    /// Describes a result.
    ///
    /// - Parameter picture: An encoded picture to use instead of the icon.
    package static func values(of result: DesktopResult, picture: [UInt8]? = nil) -> [String: BusValue] {
        let description = [result.app, result.detail].filter { !$0.isEmpty }.joined(separator: " · ")
        return [
            "id": .string(result.identifier.text), "name": .string(text: result.title),
            "description": .string(text: description),
            "icon": picture.map(icon(picture:)) ?? icon(result.icon),
        ]
    }

    /// Describes a result that disappeared after the search, or that the desktop may no longer
    /// display.
    package static func gone(_ identifier: ResultIdentifier) -> [String: BusValue] {
        [
            "id": .string(identifier.text), "name": .string("No longer available"), "description": .string(""),
            "icon": icon(ResultIcon(contentType: nil)),
        ]
    }

    // Returns GNOME's icons in the format of g_icon_serialize.

    private static func icon(_ icon: ResultIcon) -> BusValue {
        .structure([.string("themed"), .variant(.strings(icon.names))])
    }

    private static func icon(picture: [UInt8]) -> BusValue {
        .structure([.string("bytes"), .variant(.bytes(picture))])
    }
}
