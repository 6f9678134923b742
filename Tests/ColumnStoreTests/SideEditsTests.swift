import Testing
import VivariumTestSupport

@testable import ColumnStore

/// The side entries of an open write, in order.
@Suite struct SideEditsTests {
  @Test func `a range has what was put and not forgotten, each key once, whatever was put in between`() {
    var random = SeededGenerator.forTest()
    for _ in 0..<40 {
      var edits = SideEdits()
      var expected: Set<[UInt8]> = []
      for _ in 0..<400 {
        let key = (0...random.below(3)).map { _ in UInt8(random.below(7)) }
        if random.oneIn(4) {
          edits.put(nil, key)
          expected.remove(key)
        } else {
          edits.put(.removed, key)
          expected.insert(key)
        }
        guard random.oneIn(3) else { continue }
        let start = [UInt8(random.below(7))]
        let end: [UInt8]? = random.oneIn(4) ? nil : [UInt8(random.below(8))]
        let inside = expected.filter { key in
          !key.lexicographicallyPrecedes(start) && end.map { key.lexicographicallyPrecedes($0) } ?? true
        }
        #expect(Array(edits.edits(from: start, below: end)) == inside.sorted { $0.lexicographicallyPrecedes($1) })
      }
    }
  }

  @Test func `looking between one put and the next does not sort everything again`() {
    var random = SeededGenerator.forTest()
    var edits = SideEdits()
    for _ in 0..<4_000 {
      edits.put(.removed, [UInt8(random.below(256)), UInt8(random.below(256)), UInt8(random.below(256))])
      _ = edits.edits(from: [7], below: [7, 1])
    }
    #expect(edits.work < 4_000 * 40)
  }
}
