// SPDX-License-Identifier: Apache-2.0
import ExampleSupport
import Foundation

extension Employee {
    /// The address of the employee's public page.
    public var webpage: URL? { URL(string: "https://directory.example.com/staff/\(id)") }

    /// The page with its markup: search engines read the facts by the names of schema.org, and
    /// `apple-itunes-app` and `al:…` name the app that opens the same employee.
    public var html: String {
        var facts: [String: Any] = [
            "@context": "https://schema.org", "@type": "Person", "name": name, "jobTitle": title,
            "worksFor": ["@type": "Organization", "name": "Acme", "department": department],
        ]
        if let webpage { facts["url"] = webpage.absoluteString }
        if let phone { facts["telephone"] = phone }
        if let mail { facts["email"] = mail }
        // No text can begin or end an element.
        let data = (try? JSONSerialization.data(withJSONObject: facts, options: .sortedKeys)) ?? Data()
        let json = String(decoding: data, as: UTF8.self).replacing("<", with: "\\u003c")
        let link = "acme-directory://staff/\(id)"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>\(name.escapedForHTML)</title>
            <meta name="apple-itunes-app" content="app-id=com.example.AcmeDirectory, app-argument=\(link)">
            <meta property="al:web:url" content="\((webpage?.absoluteString ?? "").escapedForHTML)">
            <meta property="al:linux:url" content="\(link)">
            <script type="application/ld+json">\(json)</script>
            </head>
            <body>
            \(body)
            </body>
            </html>

            """
    }

    /// The visible part of the page, which is also the preview.
    public var body: String {
        """
        <h1>\(name.escapedForHTML)</h1>
        <p>\(position.escapedForHTML)</p>
        <p>\([phone, mail].compactMap(\.self).joined(separator: " · ").escapedForHTML)</p>
        """
    }
}
