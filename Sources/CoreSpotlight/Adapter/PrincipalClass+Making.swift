// SPDX-License-Identifier: Apache-2.0

// Objects of a class that is known at run time only. Swift makes them through required initializers, and were there one in
// these classes, each subclass with an initializer of its own would have to repeat it: source written for Apple's SDK would
// not compile. An initializer for convenience makes an object of whatever class it is told to; only the compiler's check
// stands in between. So each such initializer is declared a second time, by its symbol, as the method it is: it takes the
// class as `self` and answers with an object that the caller owns. A symbol that does not fit is an error of the linker.
// A class that has no `init()` stops the process and says so, as on Apple's systems.

extension CSIndexExtensionRequestHandler {
    /// Makes the object by calling `init()`.
    convenience init(loadedBy: Void) { self.init() }

    @_silgen_name("$s13CoreSpotlight30CSIndexExtensionRequestHandlerC8loadedByACyt_tcfC")
    static func make() -> CSIndexExtensionRequestHandler
}

extension QLPreviewProvider {
    /// Makes the object by calling `init()`.
    convenience init(loadedBy: Void) { self.init() }

    @_silgen_name("$s13CoreSpotlight17QLPreviewProviderC8loadedByACyt_tcfC")
    static func make() -> QLPreviewProvider
}
