import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import ChangeTracker

@Suite struct ModificationsTests {
  /// More than are kept before the list is joined, said several times, of near and far keys.
  @Test func eachObjectIsNamedOnceInTheOrderOfKeysWithAllThatWasSet() {
    var random = SeededGenerator.forTest()
    for (count, keys) in [(0, 1), (1, 1), (400, 50), (600, 400), (20_000, 3_000), (20_000, 1_000_000_000_000)] {
      var modifications = Modifications()
      var expected: [Int64: PropertySet] = [:]
      for _ in 0..<count {
        let key = random.oneIn(50) ? Int64.max - Int64(random.below(100)) : Int64(random.below(keys))
        let property = PropertyID(UInt16(random.below(8)))
        modifications.add(key, property)
        expected[key, default: PropertySet()].insert(property)
      }
      let objects = modifications.objects
      #expect(objects.map(\.key.rawValue) == expected.keys.sorted(), "\(count) of \(keys) keys")
      #expect(objects.allSatisfy { expected[$0.key.rawValue] == $0.properties }, "\(count) of \(keys) keys")
      #expect(modifications.isEmpty == (count == 0))
    }
  }
}
