// SPDX-License-Identifier: Apache-2.0

// Where Apple's SDK has the types for previews as data, and source for them imports them from.
@_exported import CoreSpotlight
