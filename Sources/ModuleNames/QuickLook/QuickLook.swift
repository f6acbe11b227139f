// SPDX-License-Identifier: Apache-2.0

// The module in which Apple's SDK declares the types for data-based previews. Source that uses them
// imports it.
@_exported import CoreSpotlight
