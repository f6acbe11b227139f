// SPDX-License-Identifier: Apache-2.0

// Apps that import only CoreSpotlight can use URL, Data and UTType.
@_exported import Foundation
@_exported import UniformTypeIdentifiers
