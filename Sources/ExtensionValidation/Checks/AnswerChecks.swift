// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Previews
import Promises
import UniformTypeIdentifiers

extension CheckContext {
    /// Sends requests about items that do not exist.
    func checkUnknownItems() async throws(ExtensionError) -> CheckResult {
        var generator = generator
        var representations = Set(survey.records.flatMap(\.promisedRepresentations))
        if representations.isEmpty { representations = [Representation(type: "public.utf8-plain-text", form: .data)] }
        let chosen = generator.sample(
            representations.sorted { ($0.type, $0.form.rawValue) < ($1.type, $1.form.rawValue) }, 8)
        let names = chosen.map { _ in generator.unusedName() } + [generator.unusedName()]
        let kinds = chosen.map { TrialOffer.Kind.promise($0) } + [.preview(contentPath: nil)]
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            for (name, kind) in zip(names, kinds) {
                let offer = TrialOffer(item: name, kind: kind)
                let answer = try await trial.ask(offer)
                guard answer.isSomething else { continue }
                findings.fail(
                    "It answered the request for \(offer), which does not exist, with \(answer.summary).",
                    "Look the item up first, and answer SEARCHLIGHT_NOT_FOUND (in Swift: throw) if there is none.")
            }
            return findings.result
        }
    }

    /// Requests every promise of the sampled items.
    func checkPromises() async throws(ExtensionError) -> CheckResult {
        let offers = unfailed(sample(settings.sampleSize).flatMap(TrialOffer.promises))
        guard !offers.isEmpty else { return nothing("its items promise no types") }
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            for offer in offers {
                guard case .promise(let representation) = offer.kind else { continue }
                judge(try await trial.ask(offer), of: offer, representation, &findings)
            }
            return findings.result
        }
    }

    private func judge(
        _ answer: ExtensionAnswer, of offer: TrialOffer, _ representation: Representation, _ findings: inout Findings
    ) {
        let type = representation.type
        if UTType(type) == nil {
            findings.warn(
                "The type \(type) is not declared, so no receiver knows its conformance.",
                "Declare it under UTExportedTypeDeclarations, or UTImportedTypeDeclarations if it belongs to another app."
            )
        }
        switch answer {
        case .data(let bytes):
            if bytes.isEmpty {
                findings.warn("\(offer) is empty.", "Fail the request if there is no content.")
            } else if let problem = ContentSniffer.mismatch(bytes, type: type) {
                findings.fail("\(offer): \(problem).", Self.mismatchAdvice)
            }
        case .tooMuch(let length):
            findings.warn(
                "\(offer) has \(length) bytes and was not checked: a validation reads \(Trial.maximumBytes >> 20) MiB of data.",
                "This is a limit of the validation, not of the extension. Ignore it, or promise large data as files.")
        case .file(let name, let length, let head):
            judge(name, type, offer, &findings)
            if length == 0 {
                findings.warn("\(offer) is an empty file.", "Fail the request if there is no content.")
            } else if let problem = ContentSniffer.mismatch(head, isWhole: head.count == length, type: type) {
                findings.fail("\(offer): \(problem).", Self.mismatchAdvice)
            }
        case .preview: break
        case .notServed:
            findings.fail(
                "\(offer) was promised, but the extension does not serve promises.",
                "Serve searchlight.promises/1 (in Swift: data(for:…) and fileURL(for:…)), or promise no types.")
        case .refused(let status, let message):
            findings.fail(
                "\(offer) was promised, but the answer was: \(message.prefix(300)) (\(status)).",
                "Promise only types that can be provided on request.")
        }
    }

    private static let mismatchAdvice = "Provide data of this type, or promise the actual type."

    /// Checks that the name of a file matches its type.
    private func judge(_ name: String, _ type: String, _ offer: TrialOffer, _ findings: inout Findings) {
        guard !name.isEmpty, let wanted = UTType(type), let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return
        }
        let found = UTType.type(ofFileNamed: name, kind: .regular(isExecutable: false))
        guard !found.isDynamic, found != wanted, !found.conforms(to: wanted), !wanted.conforms(to: found) else {
            return
        }
        findings.warn(
            "\(offer) is named \(name.quoted), which is a name for the type \(found.identifier).",
            "Use the file name extension of its type; receivers depend on it.")
    }

    /// Known types that hardly any item promises.
    private static let unlikelyTypes = [
        "com.adobe.pdf", "public.mpeg-4", "public.zip-archive", "com.compuserve.gif", "public.vcard",
        "public.aiff-audio",
    ]

    /// Requests types that are not promised.
    func checkUnsupportedTypes() async throws(ExtensionError) -> CheckResult {
        var generator = generator
        let records = generator.sample(survey.records.filter { !$0.promisedRepresentations.isEmpty }, 3)
        guard !records.isEmpty else { return .skipped(reason: "its items promise no types") }
        let invented = "com.example." + generator.unusedName()
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            for record in records {
                let promised = record.promisedRepresentations.compactMap { UTType($0.type) }
                let unlikely = Self.unlikelyTypes.compactMap { UTType($0) }.first { type in
                    !promised.contains { $0.conforms(to: type) || type.conforms(to: $0) || $0 == type }
                }
                for type in [invented, unlikely?.identifier].compactMap(\.self) {
                    for form in [Representation.Form.data, .file, .inPlaceFile] {
                        let offer = TrialOffer(
                            item: record.uniqueIdentifier, kind: .promise(Representation(type: type, form: form)))
                        let answer = try await trial.ask(offer)
                        guard answer.isSomething else { continue }
                        findings.fail(
                            "It answered the request for \(offer), which was not promised, with \(answer.summary).",
                            "Check the type, and answer SEARCHLIGHT_UNSUPPORTED (in Swift: throw) for other types.")
                    }
                }
            }
            return findings.result
        }
    }

    func checkPreviews() async throws(ExtensionError) -> CheckResult {
        let offers = unfailed(sample(settings.sampleSize).map(TrialOffer.preview))
        guard !offers.isEmpty else { return nothing("there are no items to preview") }
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            var isServed = false
            for offer in offers {
                switch try await trial.ask(offer) {
                case .preview(let rendering):
                    isServed = true
                    judge(rendering, of: offer, &findings)
                case .refused(.unsupported, _): isServed = true
                case .refused(let status, let message):
                    isServed = true
                    findings.fail(
                        "\(offer) failed: \(message.prefix(300)) (\(status)).",
                        "Answer SEARCHLIGHT_UNSUPPORTED for items that you do not render; the host shows their attributes."
                    )
                case .notServed, .data, .tooMuch, .file: break
                }
            }
            return isServed ? findings.result : .skipped(reason: "it renders no previews")
        }
    }

    private func judge(_ rendering: ExtensionAnswer.Rendering, of offer: TrialOffer, _ findings: inout Findings) {
        guard Preview.contentTypes.contains(rendering.contentType) else {
            return findings.fail(
                "\(offer) is of type \(rendering.contentType), which no preview supports.",
                "Use one of \(Preview.contentTypes.sorted().joined(separator: ", ")).")
        }
        let bytes = rendering.content.count + rendering.attachments.reduce(0) { $0 + $1.value.bytes.count }
        if bytes > Preview.maximumBytes {
            findings.fail("\(offer) has \(bytes) bytes.", "The limit is \(Preview.maximumBytes) bytes. Render less.")
        }
        if rendering.content.isEmpty {
            findings.warn("\(offer) is empty.", "Answer SEARCHLIGHT_UNSUPPORTED if there is no preview.")
        } else if let problem = ContentSniffer.mismatch(rendering.content, type: rendering.contentType) {
            findings.fail("\(offer): \(problem).", Self.mismatchAdvice)
        }
        guard rendering.contentType == "public.html" else { return }
        let references = HTMLReferences(rendering.content)
        for missing in references.attachments.subtracting(rendering.attachments.keys).sorted() {
            findings.fail("\(offer) refers to cid:\(missing), which is not attached.", "Attach it to the reply.")
        }
        for unused in Set(rendering.attachments.keys).subtracting(references.attachments).sorted() {
            findings.warn("\(offer) attaches \(unused.quoted) without a reference to it.", "Leave it out.")
        }
        judgeRemovals(from: rendering, of: offer, &findings)
    }

    /// Reports the parts of a page that users would not see.
    private func judgeRemovals(
        from rendering: ExtensionAnswer.Rendering, of offer: TrialOffer, _ findings: inout Findings
    ) {
        let attachments = rendering.attachments.map {
            PreviewAttachment(identifier: $0.key, contentType: $0.value.contentType, bytes: $0.value.bytes[...])
        }
        guard let page = try? HTMLSanitizer(attachments: attachments).page(rendering.content[...]) else { return }
        var removed: [String] = []
        for removal in page.removals {
            let words = Removal.summary(of: [removal]) ?? ""
            switch removal.kind {
            // Already reported above.
            case .missingAttachment: break
            case .mistypedAttachment:
                findings.warn("\(offer) contains \(words): \(removal.example.quoted).", Self.mismatchAdvice)
            default: removed.append(removal.example.isEmpty ? words : "\(words) (\(removal.example.quoted))")
            }
        }
        guard !removed.isEmpty else { return }
        findings.warn(
            "\(offer) is shown only in part. Removed: \(removed.joined(separator: ", ")).",
            """
            Use only supported HTML (docs/EXTENSIONS.md, “What is shown of a preview”). Nothing is loaded: attach \
            pictures (cid:NAME), or write them into the page (data:…).
            """)
    }
}
