import StorageInterface
import VivariumTestSupport

extension ModelRun {
  /// Some side entries are put and taken out, by few keys so that they meet. An engine that keeps none fails.
  func setSide(_ pair: ModelPair) throws {
    for _ in 0..<1 + random.below(4) {
      let key = (0...random.below(3)).map { _ in UInt8(random.below(6)) }
      let value = random.oneIn(3) ? nil : (0..<(random.oneIn(20) ? 5_000 : random.below(30))).map { _ in UInt8(random.below(256)) }
      note("side", "\(key) \(value.map { "of \($0.count) bytes" } ?? "goes")")
      try pair.both { try unwrap($0.writePowers.sides, "side entries of a write").setSide(key, value) }
    }
  }

  /// All of them, and a few by their keys.
  func compareSides(_ real: any StorageReading, _ plain: any StorageReading, _ what: String) throws {
    let real = try unwrap(real.powers.sides, "side entries")
    let expected = try unwrap(plain.powers.sides, "side entries").all()
    let actual = try real.all()
    try expectEqual(actual.map(\.key), expected.map(\.key), "\(what), keys of side entries")
    try expectEqual(actual.map(\.value), expected.map(\.value), "\(what), side entries")
    for _ in 0..<3 {
      let key = (0...random.below(3)).map { _ in UInt8(random.below(6)) }
      try expectEqual(try real.side(key), expected.first { $0.key == key }?.value, "\(what), side entry \(key)")
    }
  }
}
