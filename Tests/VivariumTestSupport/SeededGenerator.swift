#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random numbers that can be had again: splitmix64. The same seed gives the same numbers on every machine.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension SeededGenerator {
  /// A generator for one test, with its seed printed so that a failure can be had again:
  /// `VIVARIUM_SEED=… swift test --filter …`. Without the variable the seed is drawn afresh.
  public static func forTest(_ name: String = #function) -> SeededGenerator {
    let seed = ProcessInfo.processInfo.environment["VIVARIUM_SEED"].flatMap { UInt64($0) }
    let generator = SeededGenerator(seed: seed ?? UInt64.random(in: 1...UInt64(UInt32.max)))
    print("\(name): VIVARIUM_SEED=\(generator.seed)")
    return generator
  }

  /// True once in `n` calls, on average. False for n below 1.
  public mutating func oneIn(_ n: Int) -> Bool { n > 0 && Int.random(in: 0..<n, using: &self) == 0 }

  /// A number below `bound`; 0 when the bound is below 1.
  public mutating func below(_ bound: Int) -> Int { bound > 0 ? Int.random(in: 0..<bound, using: &self) : 0 }

  /// A generator whose numbers have nothing to do with the ones that this one goes on to give.
  public mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}

/// A number from the environment, for tests that can run longer than they do by default.
public func environmentNumber(_ name: String, default value: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
}
