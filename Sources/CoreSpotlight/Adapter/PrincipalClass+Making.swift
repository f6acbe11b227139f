// SPDX-License-Identifier: Apache-2.0

// These functions create objects of a class that is only known at run time. Swift requires
// `required` initializers for that. But then each subclass with its own initializer would have to
// repeat the required initializer, and source code written for Apple's SDK would not compile.
//
// A convenience initializer can create an object of any subclass, because it takes the class as
// `self`; only the compiler's check prevents the call. So each such initializer is declared a
// second time by its symbol, as a static method that returns an owned object. A symbol that does
// not match causes a linker error. A class without `init()` stops the process with a message, as on
// Apple's systems.

extension CSIndexExtensionRequestHandler {
    /// Creates the object by calling `init()`.
    convenience init(loadedBy: Void) { self.init() }

    @_silgen_name("$s13CoreSpotlight30CSIndexExtensionRequestHandlerC8loadedByACyt_tcfC")
    static func make() -> CSIndexExtensionRequestHandler
}

extension QLPreviewProvider {
    /// Creates the object by calling `init()`.
    convenience init(loadedBy: Void) { self.init() }

    @_silgen_name("$s13CoreSpotlight17QLPreviewProviderC8loadedByACyt_tcfC")
    static func make() -> QLPreviewProvider
}
