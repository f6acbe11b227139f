// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Testing

@testable import ConditionSensors

@Suite("Combined readings")
struct ReadingsTests {
    @Test("Without readings nothing is known")
    func empty() { #expect(Readings().conditions == Conditions()) }

    @Test("The newest sign of use counts; the compositor takes precedence over logind for the own session")
    func presence() {
        var readings = Readings()
        readings.terminals = 100
        readings.sessions = Readings.Sessions(own: .now)
        #expect(readings.conditions.presence == .active)
        readings.compositor = .last(90)
        #expect(readings.conditions.presence == .away(since: 100))
        readings.compositor = .last(150)
        #expect(readings.conditions.presence == .away(since: 150))
        readings.sessions?.others = .now
        #expect(readings.conditions.presence == .active)
    }

    @Test("A screen saver locks the machine unless another user is active")
    func locks() {
        var readings = Readings()
        readings.screenSavers = ["a": false]
        #expect(readings.conditions.isLocked == false)
        readings.screenSavers["b"] = true
        #expect(readings.conditions.isLocked == true)
        readings.sessions = Readings.Sessions(isLocked: false)
        #expect(readings.conditions.isLocked == true)
        readings.sessions?.hasOthers = true
        #expect(readings.conditions.isLocked == false)
    }

    @Test("UPower takes precedence over the kernel, which fills in missing values")
    func power() {
        var readings = Readings()
        readings.supplies = Conditions.Power(isOnBattery: true, percent: 30)
        #expect(readings.conditions.power == readings.supplies)
        readings.isOnBattery = false
        #expect(readings.conditions.power == Conditions.Power(isOnBattery: false, percent: 30))
        readings.percent = 31
        #expect(readings.conditions.power == Conditions.Power(isOnBattery: false, percent: 31))
    }

    @Test("Power is saved if any source reports it, and unknown if none does")
    func saving() {
        var readings = Readings()
        #expect(readings.conditions.isSavingPower == nil)
        readings.platform = false
        readings.profiles = ["a": false]
        #expect(readings.conditions.isSavingPower == false)
        readings.profiles["b"] = true
        #expect(readings.conditions.isSavingPower == true)
    }
}
