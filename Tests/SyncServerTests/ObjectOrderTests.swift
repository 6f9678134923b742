import SyncModel
import Testing
import VivariumTestSupport

@testable import SyncServer

@Suite struct ObjectOrderTests {
  @Test func `objects are in order from behind any of them, whatever came and went`() {
    var random = SeededGenerator.forTest()
    var plain: Set<ObjectIdentity> = []
    var order = ObjectOrder()
    func thing(_ number: Int) -> ObjectIdentity { ObjectIdentity("Thing", .int(Int64(number))) }
    for round in 0..<6_000 {
      let object = thing(random.below(3_000))
      if random.oneIn(3) {
        plain.remove(object)
        order.remove(object)
      } else {
        plain.insert(object)
        order.insert(object)
      }
      if round == 4_000 { order = ObjectOrder(plain) }
      guard round.isMultiple(of: 200) else { continue }
      let last = random.oneIn(4) ? nil : thing(random.below(3_000))
      var found: [ObjectIdentity] = []
      order.forEach(behind: last) {
        found.append($0)
        return true
      }
      #expect(found == plain.filter { object in last.map { $0 < object } ?? true }.sorted())
    }
  }

  @Test func `who has enough is given no more`() {
    let order = ObjectOrder((0..<2_000).map { ObjectIdentity("Thing", .int($0)) })
    var count = 0
    order.forEach(behind: nil) { _ in
      count += 1
      return count < 10
    }
    #expect(count == 10)
  }
}
