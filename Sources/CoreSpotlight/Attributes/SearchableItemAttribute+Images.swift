// SPDX-License-Identifier: Apache-2.0

extension SearchableItemAttribute {
    /// ``CSSearchableItemAttributeSet/isoSpeed``
    public static let isoSpeed = SearchableItemAttribute(rawValue: "isoSpeed")
    /// ``CSSearchableItemAttributeSet/acquisitionMake``
    public static let acquisitionMake = SearchableItemAttribute(rawValue: "acquisitionMake")
    /// ``CSSearchableItemAttributeSet/acquisitionModel``
    public static let acquisitionModel = SearchableItemAttribute(rawValue: "acquisitionModel")
    /// ``CSSearchableItemAttributeSet/aperture``
    public static let aperture = SearchableItemAttribute(rawValue: "aperture")
    /// ``CSSearchableItemAttributeSet/bitsPerSample``
    public static let bitsPerSample = SearchableItemAttribute(rawValue: "bitsPerSample")
    /// ``CSSearchableItemAttributeSet/cameraOwner``
    public static let cameraOwner = SearchableItemAttribute(rawValue: "cameraOwner")
    /// ``CSSearchableItemAttributeSet/colorSpace``
    public static let colorSpace = SearchableItemAttribute(rawValue: "colorSpace")
    /// ``CSSearchableItemAttributeSet/flashOn``
    public static let flashOn = SearchableItemAttribute(rawValue: "flashOn")
    /// ``CSSearchableItemAttributeSet/focalLength``
    public static let focalLength = SearchableItemAttribute(rawValue: "focalLength")
    /// ``CSSearchableItemAttributeSet/focalLength35mm``
    public static let focalLength35mmEquivalent = SearchableItemAttribute(rawValue: "focalLength35mm")
    /// ``CSSearchableItemAttributeSet/layerNames``
    public static let layerNames = SearchableItemAttribute(rawValue: "layerNames")
    /// ``CSSearchableItemAttributeSet/lensModel``
    public static let lensModel = SearchableItemAttribute(rawValue: "lensModel")
    /// ``CSSearchableItemAttributeSet/orientation``
    public static let orientation = SearchableItemAttribute(rawValue: "orientation")
    /// ``CSSearchableItemAttributeSet/pixelCount``
    public static let pixelCount = SearchableItemAttribute(rawValue: "pixelCount")
    /// ``CSSearchableItemAttributeSet/pixelHeight``
    public static let pixelHeight = SearchableItemAttribute(rawValue: "pixelHeight")
    /// ``CSSearchableItemAttributeSet/pixelWidth``
    public static let pixelWidth = SearchableItemAttribute(rawValue: "pixelWidth")
    /// ``CSSearchableItemAttributeSet/whiteBalance``
    public static let whiteBalance = SearchableItemAttribute(rawValue: "whiteBalance")
    /// ``CSSearchableItemAttributeSet/exifgpsVersion``
    public static let exifGPSVersion = SearchableItemAttribute(rawValue: "exifgpsVersion")
    /// ``CSSearchableItemAttributeSet/exifVersion``
    public static let exifVersion = SearchableItemAttribute(rawValue: "exifVersion")
    /// ``CSSearchableItemAttributeSet/exposureMode``
    public static let exposureMode = SearchableItemAttribute(rawValue: "exposureMode")
    /// ``CSSearchableItemAttributeSet/exposureProgram``
    public static let exposureProgram = SearchableItemAttribute(rawValue: "exposureProgram")
    /// ``CSSearchableItemAttributeSet/exposureTime``
    public static let exposureTime = SearchableItemAttribute(rawValue: "exposureTime")
    /// ``CSSearchableItemAttributeSet/exposureTimeString``
    public static let exposureTimeString = SearchableItemAttribute(rawValue: "exposureTimeString")
    /// ``CSSearchableItemAttributeSet/fNumber``
    public static let fNumber = SearchableItemAttribute(rawValue: "fNumber")
    /// ``CSSearchableItemAttributeSet/hasAlphaChannel``
    public static let hasAlphaChannel = SearchableItemAttribute(rawValue: "hasAlphaChannel")
    /// ``CSSearchableItemAttributeSet/maxAperture``
    public static let maximumAperture = SearchableItemAttribute(rawValue: "maxAperture")
    /// ``CSSearchableItemAttributeSet/meteringMode``
    public static let meteringMode = SearchableItemAttribute(rawValue: "meteringMode")
    /// ``CSSearchableItemAttributeSet/profileName``
    public static let profileName = SearchableItemAttribute(rawValue: "profileName")
    /// ``CSSearchableItemAttributeSet/redEyeOn``
    public static let redEyeOn = SearchableItemAttribute(rawValue: "redEyeOn")
    /// ``CSSearchableItemAttributeSet/resolutionHeightDPI``
    public static let resolutionHeightDPI = SearchableItemAttribute(rawValue: "resolutionHeightDPI")
    /// ``CSSearchableItemAttributeSet/resolutionWidthDPI``
    public static let resolutionWidthDPI = SearchableItemAttribute(rawValue: "resolutionWidthDPI")
}
