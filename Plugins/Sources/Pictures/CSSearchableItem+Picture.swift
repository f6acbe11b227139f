// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import PictureReading

extension PictureFile {
    /// Returns the item for the picture.
    func item(_ content: PictureContent, _ settings: PictureSettings) -> FileItem {
        let attributes = CSSearchableItemAttributeSet()
        attributes.title = content.title ?? stem
        attributes.displayName = content.title ?? stem
        setProperties(content, attributes)
        setCamera(content.camera, attributes)
        setLocation(content.location, attributes)
        if let captured = content.captured { attributes.contentCreationDate = captured }
        setFileAttributes(attributes, contentType: kind.contentType)
        if let thumbnail = content.thumbnail { attributes.thumbnailData = Data(thumbnail.bytes) }
        // A copy is made on request, if the picture can be decoded.
        attributes.providerDataTypeIdentifiers =
            content.thumbnail == nil ? [] : [UTType.jpeg.identifier, UTType.png.identifier]
        // The file may contain a location that this extension cannot read.
        attributes.providerFileTypeIdentifiers = settings.copiesLocation ? [fileType(content)] : []
        attributes.providerInPlaceFileTypeIdentifiers = [fileType(content)]
        var made = FileItem(item(attributes), size: (content.thumbnail?.bytes.count ?? 0) + 1024)
        if let problem = content.problem {
            made.remarks = ["\(path.onOneLine): \(problem.kind); indexed in part"]
            made.limitations = [content.thumbnail == nil ? "without a thumbnail" : "in part"]
            made.leftOut = problem.kind
        }
        return made
    }

    /// Returns the type in which the file itself is promised. A file whose content does not match
    /// its name's type is promised as data.
    private func fileType(_ content: PictureContent) -> String {
        content.problem == .damaged ? UTType.data.identifier : kind.contentType
    }

    private func setProperties(_ content: PictureContent, _ attributes: CSSearchableItemAttributeSet) {
        // Only existing values are set, because an attribute that is set to nil is also sent.
        if let width = content.width, let height = content.height {
            attributes.pixelWidth = NSNumber(value: width)
            attributes.pixelHeight = NSNumber(value: height)
            attributes.pixelCount = NSNumber(value: width * height)
            attributes.orientation = NSNumber(value: height > width ? 1 : 0)
        }
        if let bits = content.bitsPerSample { attributes.bitsPerSample = NSNumber(value: bits) }
        if let isGray = content.isGray { attributes.colorSpace = isGray ? "Gray" : "RGB" }
        if let hasAlpha = content.hasAlpha { attributes.hasAlphaChannel = NSNumber(value: hasAlpha ? 1 : 0) }
        if let headline = content.headline { attributes.headline = headline }
        if let description = content.description { attributes.contentDescription = description }
        if let instructions = content.instructions { attributes.instructions = instructions }
        if !content.keywords.isEmpty { attributes.keywords = content.keywords }
        if !content.authors.isEmpty { attributes.authorNames = content.authors }
        if !content.people.isEmpty {
            attributes.participants = content.people
            attributes.contactKeywords = content.people
        }
        if let copyright = content.copyright { attributes.copyright = copyright }
        if let rating = content.rating { attributes.rating = NSNumber(value: rating) }
        if let software = content.software { attributes.creator = software }
    }

    /// Sets the attribute by which a typed search finds the camera; searches do not read the
    /// others.
    private func setCameraName(_ camera: CameraProperties, _ attributes: CSSearchableItemAttributeSet) {
        let names = [camera.make, camera.model, camera.lens].compactMap { $0 }
        let key = CSCustomAttributeKey(
            keyName: "com_searchlight_camera", searchable: true, searchableByDefault: true, unique: false,
            multiValued: false)
        guard !names.isEmpty, let key else { return }
        attributes.setValue(names.joined(separator: ", ") as NSString, forCustomKey: key)
    }

    private func setCamera(_ camera: CameraProperties, _ attributes: CSSearchableItemAttributeSet) {
        if let make = camera.make { attributes.acquisitionMake = make }
        if let model = camera.model { attributes.acquisitionModel = model }
        if let owner = camera.owner { attributes.cameraOwner = owner }
        if let lens = camera.lens { attributes.lensModel = lens }
        setCameraName(camera, attributes)
        if let time = camera.exposureTime { attributes.exposureTime = NSNumber(value: time) }
        if let text = camera.exposureText { attributes.exposureTimeString = text }
        if let number = camera.fNumber { attributes.fNumber = NSNumber(value: number) }
        if let aperture = camera.aperture { attributes.aperture = NSNumber(value: aperture) }
        if let aperture = camera.maximumAperture { attributes.maxAperture = NSNumber(value: aperture) }
        if let iso = camera.iso { attributes.isoSpeed = NSNumber(value: iso) }
        if let length = camera.focalLength { attributes.focalLength = NSNumber(value: length) }
        if let mode = camera.exposureMode { attributes.exposureMode = NSNumber(value: mode) }
        if let balance = camera.whiteBalance { attributes.whiteBalance = NSNumber(value: balance) }
        if let flash = camera.flash {
            attributes.flashOn = NSNumber(value: flash & 1)
            attributes.redEyeOn = NSNumber(value: flash >> 6 & 1)
        }
        if let version = camera.exifVersion { attributes.exifVersion = version }
        if let program = camera.exposureProgram { attributes.exposureProgram = Self.name(program, Self.programs) }
        if let mode = camera.meteringMode { attributes.meteringMode = Self.name(mode, Self.meteringModes) }
    }

    private static let programs = [
        "", "Manual", "Normal", "Aperture priority", "Shutter priority", "Creative", "Action", "Portrait", "Landscape",
    ]
    private static let meteringModes = ["", "Average", "Center-weighted", "Spot", "Multi-spot", "Pattern", "Partial"]

    private static func name(_ number: Int, _ names: [String]) -> String? {
        names.indices.contains(number) && number > 0 ? names[number] : nil
    }

    private func setLocation(_ location: PictureLocation, _ attributes: CSSearchableItemAttributeSet) {
        if let latitude = location.latitude, let longitude = location.longitude {
            attributes.latitude = NSNumber(value: latitude)
            attributes.longitude = NSNumber(value: longitude)
        }
        if let altitude = location.altitude { attributes.altitude = NSNumber(value: altitude) }
        if let direction = location.direction { attributes.imageDirection = NSNumber(value: direction) }
        if let place = location.place { attributes.namedLocation = place }
        if let city = location.city { attributes.city = city }
        if let state = location.state { attributes.stateOrProvince = state }
        if let country = location.country { attributes.country = country }
    }
}
