// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func mailContext() -> CSSearchQueryContext {
    let context = CSSearchQueryContext()
    context.sourceOptions = .allowMail
    context.keyboardLanguage = "en"
    let options: CSSearchQueryContext.SourceOptions = [.allowMail]
    context.sourceOptions.formUnion(options)
    return context
}
