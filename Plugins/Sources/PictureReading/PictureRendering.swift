// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension PictureFile {
    /// Returns an HTML page with the picture and its properties, without scripts. The page loads
    /// only the picture.
    ///
    /// - Parameters:
    ///   - address: The URL of the picture; nil for none.
    ///   - zone: The time zone of the date.
    ///   - locale: The locale of the date.
    package func html(
        _ content: PictureContent, picture address: String?, zone: TimeZone = .current, locale: Locale = .ofDates
    ) -> String {
        var body = ""
        if let address {
            let alternative = (content.description ?? content.title ?? stem).escapedForHTML
            body += "<p><img src=\"\(address.escapedForHTML)\" alt=\"\(alternative)\"></p>\n"
        }
        body += "<h1>\((content.title ?? stem).escapedForHTML)</h1>\n"
        if let problem = content.problem { body += "<p class=\"facts\">\(problem.kind.escapedForHTML)</p>\n" }
        if let text = content.description { body += "<p>\(text.escapedForHTML)</p>\n" }
        body += "<table>\n"
        for (name, value) in content.facts(Date.FormatStyle(locale: locale, timeZone: zone)) {
            body += "<tr><th>\(name.escapedForHTML)</th><td>\(value.escapedForHTML)</td></tr>\n"
        }
        body += "</table>\n"
        return HTMLPage.page(title: content.title ?? fileName, body: body)
    }
}

extension PictureContent {
    /// Returns the properties to show, with their names.
    fileprivate func facts(_ style: Date.FormatStyle) -> [(name: String, value: String)] {
        var facts: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value, !value.isEmpty { facts.append((name, value)) } }
        if let width, let height { add("Size", "\(width) × \(height)") }
        add("Taken", captured?.formatted(style.day().month().year().hour().minute()))
        add("By", authors.joined(separator: ", "))
        add("People", people.joined(separator: ", "))
        add("Keywords", keywords.joined(separator: ", "))
        add("Rating", rating.map { String(repeating: "★", count: $0) })
        add("Place", location.names.joined(separator: ", "))
        add("Position", location.position)
        add("Camera", [camera.make, camera.model].compactMap { $0 }.joined(separator: " "))
        add("Lens", camera.lens)
        add("Exposure", camera.exposure)
        add("Copyright", copyright)
        return facts
    }
}

extension PictureLocation {
    /// The place names, most specific first.
    package var names: [String] { [place, city, state, country].compactMap { $0 } }

    var position: String? {
        guard let latitude, let longitude else { return nil }
        // Five digits correspond to about a meter.
        func rounded(_ degrees: Double) -> Double { (abs(degrees) * 100_000).rounded() / 100_000 }
        return "\(rounded(latitude))° \(latitude < 0 ? "S" : "N"), \(rounded(longitude))° \(longitude < 0 ? "W" : "E")"
    }
}

extension CameraProperties {
    /// The exposure time as photographers write it, such as `1/250`.
    package var exposureText: String? {
        guard let exposureTime else { return nil }
        return exposureTime < 0.3 ? "1/\(Int((1 / max(exposureTime, 1e-6)).rounded()))" : "\(Self.short(exposureTime))"
    }

    var exposure: String? {
        var parts: [String] = []
        if let exposureText { parts.append("\(exposureText) s") }
        if let fNumber { parts.append("f/\(Self.short(fNumber))") }
        if let iso { parts.append("ISO \(iso)") }
        if let focalLength { parts.append("\(Self.short(focalLength)) mm") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func short(_ number: Double) -> String {
        let tenths = (number * 10).rounded() / 10
        return tenths == tenths.rounded() && tenths < 1e9 ? String(Int(tenths)) : String(tenths)
    }
}
