import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What a `Date` says when it is read back, from each way to hold it: not only the word that is stored of it, as in `TypeLawTests`.
@Suite struct DateLawTests {
  /// 2²³ seconds, 97 days: from here the neighbours of a Date are further off than a nanosecond.
  private static let coarse = 0x1p23

  /// Doubles of all magnitudes, the ends of the fine ones, whole seconds, and what is no time.
  private static func dates(_ random: inout SeededGenerator) -> [Date] {
    let edges: [Double] = [
      0, -0.0, 0.1, -0.1, 1, coarse, -coarse, coarse.nextDown, -coarse.nextDown, coarse.nextUp, -978_307_200, 4.6e9, -4.7e9, 1e18, -1e300,
      .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
    ]
    let others = (0..<60).map { round -> Double in
      switch round % 4 {
      case 0: Double(bitPattern: random.next())
      case 1: Double.random(in: -64e9...253e9, using: &random)
      case 2: Double.random(in: -2e9...2e9, using: &random)
      default: Double.random(in: -1e7...1e7, using: &random)
      }
    }
    return (edges + others).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Bit for bit, but for what is so near to 2001 that a Date can tell parts of a nanosecond.
  private static func isSame(_ read: Date?, _ given: Date) -> Bool {
    guard let read = read?.timeIntervalSinceReferenceDate else { return false }
    let given = given.timeIntervalSinceReferenceDate
    if given.isNaN { return read.isNaN }
    return given.magnitude < coarse ? abs(read - given) <= 1e-9 : read.bitPattern == given.bitPattern
  }

  private static func areSame(_ read: [Date?], _ given: [Date]) -> Bool {
    read.count == given.count && zip(read, given).allSatisfy { isSame($0, $1) }
  }

  @Test(arguments: Engine.allCases) func aDateIsReadBitForBitOrNearTo2001WithinANanosecondFromEveryHolder(engine: Engine) throws {
    var random = SeededGenerator.forTest("\(engine)")
    let given = Self.dates(&random)
    let directory = TemporaryDirectory("dates")
    let configuration = engine.configuration(directory.file(), [Bag.self, Part.self])
    func expectAll(_ store: Store) throws {
      let bag = try #require(store.object(Bag.self, forPrimaryKey: 1))
      #expect(Self.areSame(bag.dates.toArray(), given), "seed \(random.seed)")
      #expect(Self.areSame(given.indices.map { bag.datesMap["\($0)"] }, given), "seed \(random.seed)")
      #expect(Self.areSame(bag.parts.map(\.date), given), "seed \(random.seed)")
      #expect(Self.isSame(bag.part?.date, given[2]) && Self.isSame(bag.partsByName["last"]?.date, given[given.count - 1]))
      // What is stored of two dates may be the same.
      #expect(bag.datesSet.count == Set(given.map { Timestamp($0) }).count)
      for date in bag.datesSet { #expect(given.contains { Self.isSame(date, $0) }, "\(date) seed \(random.seed)") }
      for date in given { #expect(bag.datesSet.contains { Self.isSame($0, date) }, "\(date) seed \(random.seed)") }
    }
    func part(_ date: Date) -> Part {
      let part = Part()
      part.date = date
      return part
    }
    var first: Store? = try Store(configuration)
    if let store = first {
      let bag = Bag(id: 1)
      bag.dates.append(contentsOf: given)
      for (place, date) in given.enumerated() { bag.datesMap["\(place)"] = date }
      for date in given { bag.datesSet.insert(date) }
      bag.parts.append(contentsOf: given.map(part))
      bag.part = part(given[2])
      bag.partsByName["last"] = part(given[given.count - 1])
      try store.write { try store.add(bag) }
      try expectAll(store)
    }
    first = nil
    if engine == .lmdb || engine == .sqlite { try expectAll(Store(configuration)) }
  }
}
