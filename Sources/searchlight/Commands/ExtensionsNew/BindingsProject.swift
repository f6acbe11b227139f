// SPDX-License-Identifier: Apache-2.0

extension Project {
    /// A manifest alone, which binds a function that a library of the system has.
    static func bindings(_ names: ProjectNames) -> Project {
        let bindings = """
                <key>UTImportedTypeDeclarations</key>
                <array>
                    <dict>
                        <key>UTTypeIdentifier</key>
                        <string>net.daringfireball.markdown</string>
                        <key>UTTypeConformsTo</key>
                        <array>
                            <string>public.plain-text</string>
                        </array>
                        <key>UTTypeTagSpecification</key>
                        <dict>
                            <key>public.filename-extension</key>
                            <array>
                                <string>md</string>
                            </array>
                        </dict>
                    </dict>
                </array>
                <key>Searchlight</key>
                <dict>
                    <!-- Where the items are from, and the only folders that can be read. -->
                    <key>ReadablePaths</key>
                    <array>
                        <string>~/Documents</string>
                    </array>
                    <!-- What is called; BINDINGS.md in Searchlight's documentation has the whole language. -->
                    <key>SymbolBindings</key>
                    <array>
                        <string>
            serve reindexAll
            library "libc.so.6"
            # All items are replaced when this succeeds, so it must not where the folder cannot be read. nftw alone would:
            # it passes over such folders. gettext gives back the text that is to be told.
            call opendir(name: text = path("~/Documents")) -> folder: owned(closedir) pointer? succeeds folder != null
                otherwise gettext(msgid: text = "~/Documents is not there or cannot be read") -> why: borrowed text
            call nftw(
                dirpath: text = path("~/Documents"),
                fn: donate(file: text, information: pointer, flag: int, level: pointer) -> int = 0
                    when flag == 0 and suffix(file) == "md"
                    { identifier = file, title = name(file), contentURL = url(file),
                      contentType = "net.daringfireball.markdown", textContent = text(contents(file)),
                      providerDataTypeIdentifiers = ["public.html"] },
                nopenfd: int = 16, flags: int = 1
            ) -> status: int succeeds status == 0
                        </string>
                        <string>
            serve data public.html of net.daringfireball.markdown
            library "libcmark-gfm.so.0.29.0.gfm.6", "libcmark-gfm.so"
            call cmark_markdown_to_html(text: bytes = item.contents, length: usize = length(text), options: int = 0)
                -> html: owned(free) text
            result html
                        </string>
                    </array>
                </dict>

            """
        return Project(
            files: [
                manifest(names, more: bindings, point: indexPoint),
                makefile(names, needs: "", build: "\t@:"),
                readme(
                    names,
                    "An extension of Searchlight without code: its Info.plist says which functions of a library of the system are"
                        + "\ncalled, here `cmark_markdown_to_html` of cmark-gfm (on Debian: `apt install libcmark-gfm0.29.0.gfm.6`)."
                ),
            ],
            steps: ["make", "make validate", "make install && searchlight reindex \(names.identifier)"])
    }
}
