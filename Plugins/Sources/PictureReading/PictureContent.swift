// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The properties of a picture.
package struct PictureContent: Sendable, Equatable {
    /// A thumbnail, as PNG or JPEG.
    package struct Thumbnail: Sendable, Equatable {
        package var bytes: [UInt8]
        /// The uniform type identifier.
        package var contentType: String
    }

    /// The size of the displayed picture, in pixels; nil if it is unknown.
    package var width: Int?
    package var height: Int?
    package var bitsPerSample: Int?
    package var isGray: Bool?
    package var hasAlpha: Bool?
    /// The EXIF orientation, 1 to 8.
    package var orientation = 1
    package var camera = CameraProperties()
    package var location = PictureLocation()
    package var captured: Date?
    package var title: String?
    package var headline: String?
    package var description: String?
    package var instructions: String?
    package var keywords: [String] = []
    package var authors: [String] = []
    package var people: [String] = []
    package var copyright: String?
    /// The number of stars, 0 to 5.
    package var rating: Int?
    package var software: String?
    package var thumbnail: Thumbnail?
    /// The reason why some or all of the picture could not be read.
    package var problem: PictureProblem?

    package init() {}
}

/// The properties that a camera records.
package struct CameraProperties: Sendable, Equatable {
    package var make: String?
    package var model: String?
    package var owner: String?
    package var lens: String?
    /// The exposure time in seconds.
    package var exposureTime: Double?
    package var fNumber: Double?
    /// The aperture, and the largest aperture of the lens, as APEX values.
    package var aperture: Double?
    package var maximumAperture: Double?
    package var iso: Int?
    /// The focal length, and the equivalent for 35 mm film, in millimeters.
    package var focalLength: Double?
    package var focalLength35mm: Int?
    package var exposureMode: Int?
    package var exposureProgram: Int?
    package var meteringMode: Int?
    package var whiteBalance: Int?
    package var flash: Int?
    package var exifVersion: String?

    package init() {}
}

/// The position and the place names in a picture.
package struct PictureLocation: Sendable, Equatable {
    /// The coordinates in degrees north and east (WGS 84).
    package var latitude: Double?
    package var longitude: Double?
    /// The altitude in meters above sea level.
    package var altitude: Double?
    /// The direction in degrees from north.
    package var direction: Double?
    package var place: String?
    package var city: String?
    package var state: String?
    package var country: String?

    package init() {}

    /// `true` if the picture states where it was taken.
    package var isKnown: Bool { self != PictureLocation() }
}

/// The reason why a picture is not indexed, or only in part.
package enum PictureProblem: Error, Sendable, Equatable, CaseIterable {
    /// The file does not have the format that its name implies. Everything before the fault is
    /// indexed.
    case damaged
    case tooLarge
    /// Decoding took too long.
    case tooSlow
    /// libheif is not installed, or has no decoder for the picture.
    case noHEIFLibrary
    /// A raw file without a preview in a known position.
    case noPreview
    /// An earlier worker crashed or was killed while it read the file.
    case endedWorker

    /// The reason in a few words, without names.
    package var kind: String {
        switch self {
        case .damaged: "damaged, or not of the format that its name says"
        case .tooLarge: "more pixels than a thumbnail is made of"
        case .tooSlow: "decoding it takes more than \(PictureDecoder.maximumSeconds) seconds"
        case .noHEIFLibrary: "this picture needs libheif1 with a decoder, which is not installed"
        case .noPreview: "a raw file without a preview that can be read"
        case .endedWorker: "the picture decoder crashed on it"
        }
    }
}
