import SyncModel
import Testing
import VivariumTestSupport

@Suite struct ListPositionTests {
  private func stamp(_ time: UInt64, _ replica: UInt64 = 1) -> Stamp { Stamp(time: time, replica: ReplicaID(replica)) }

  @Test func `there is room between any two neighbours, whoever inserted them and however often`() {
    var random = SeededGenerator.forTest()
    for pattern in 0..<4 {
      var list: [ListPosition] = []
      var source = PositionSource()
      for time in 1...1000 {
        if random.oneIn(5) { source = PositionSource() }
        let index = [list.count, 0, random.below(list.count + 1), list.count / 2][pattern]
        let (left, right) = (index > 0 ? list[index - 1] : nil, index < list.count ? list[index] : nil)
        let made = source.position(after: left, before: right, stamp: stamp(UInt64(time), UInt64(1 + random.below(9))))
        #expect(left.map { $0 < made } ?? true)
        #expect(right.map { made < $0 } ?? true)
        list.insert(made, at: index)
      }
    }
  }

  @Test func `appends and prepends of ten authors taking turns stay one step deep`() {
    for isAppend in [true, false] {
      var list: [ListPosition] = []
      for time in 1...2000 {
        var source = PositionSource()
        let made = source.position(
          after: isAppend ? list.last : nil, before: isAppend ? nil : list.first,
          stamp: stamp(UInt64(time), UInt64(time % 10)))
        isAppend ? list.append(made) : list.insert(made, at: 0)
      }
      #expect(list.allSatisfy { $0.steps.count == 1 })
    }
  }

  @Test func `moving elements about does not make positions grow without end`() {
    var random = SeededGenerator.forTest()
    var list: [ListPosition] = []
    for time in 1...6_200 {
      if list.count == 200 { list.remove(at: random.below(200)) }
      let index = time <= 200 ? list.count : random.below(list.count + 1)
      var source = PositionSource()
      let (left, right) = (index > 0 ? list[index - 1] : nil, index < list.count ? list[index] : nil)
      list.insert(source.position(after: left, before: right, stamp: stamp(UInt64(time))), at: index)
    }
    #expect(list.map(\.steps.count).max() ?? 0 <= 20)
  }

  @Test func `runs of two authors at one place stand one after the other, the earlier first, typed forwards or backwards`() {
    for isBackwards in [false, true] {
      var (first, second) = (PositionSource(), PositionSource())
      var all: [(position: ListPosition, author: Int)] = []
      let ends = (ListPosition([.init(gap: 0, bunch: stamp(1), offset: 0)]), ListPosition([.init(gap: 1, bunch: stamp(2), offset: 0)]))
      for author in 0...1 {
        var neighbour: ListPosition?
        for step in 0..<20 {
          let stamp = stamp(UInt64(10 + author * 100 + step), UInt64(author + 1))
          let (left, right) = isBackwards ? (ends.0, neighbour ?? ends.1) : (neighbour ?? ends.0, ends.1)
          let made = author == 0
            ? first.position(after: left, before: right, stamp: stamp) : second.position(after: left, before: right, stamp: stamp)
          neighbour = made
          all.append((made, author))
        }
      }
      #expect(all.sorted { $0.position < $1.position }.map(\.author) == Array(repeating: 0, count: 20) + Array(repeating: 1, count: 20))
    }
  }

  @Test func `neighbours that are forged or in the wrong order give some position and never stop the process`() {
    var random = SeededGenerator.forTest()
    let numbers: [Int64] = [.min, .min + 1, -1024, -1, 0, 1, 1024, .max - 1, .max]
    func any() -> ListPosition? {
      random.oneIn(6) ? nil : ListPosition((0..<random.below(4)).map { _ in
        .init(
          gap: numbers[random.below(numbers.count)], bunch: stamp(UInt64(random.below(4)) &* (.max / 3), UInt64(random.below(2))),
          offset: numbers[random.below(numbers.count)])
      })
    }
    var source = PositionSource()
    for _ in 0..<50_000 {
      if random.oneIn(3) { source = PositionSource() }
      _ = source.position(after: any(), before: any(), stamp: stamp(UInt64(random.below(4)) &* (.max / 3)))
    }
  }

  @Test func `pieces hold what a plain sorted array holds`() {
    var random = SeededGenerator.forTest()
    var pieces = ListPieces()
    var plain: [ListElement] = []
    for time in 1...1500 {
      let old = plain.isEmpty || random.oneIn(2) ? nil : plain[random.below(plain.count)]
      var new: ListElement?
      if old == nil || !random.oneIn(3) {
        let index = random.oneIn(2) ? plain.count : random.below(plain.count + 1)
        var source = PositionSource()
        let made = source.position(
          after: index > 0 ? plain[index - 1].position : nil, before: index < plain.count ? plain[index].position : nil,
          stamp: stamp(UInt64(time)))
        new = ListElement(id: old?.id ?? ElementID(ReplicaID(1), UInt64(time)), position: made, moved: stamp(UInt64(time)), slot: Slot())
      }
      pieces.replace(old, with: new)
      if let old { plain.removeAll { $0.id == old.id } }
      if let new { plain.insert(new, at: plain.firstIndex { new < $0 } ?? plain.count) }
      if let new {
        #expect(pieces.element(new.id, near: new.position) == new)
        #expect(pieces.element(new.id, near: old?.position ?? .none) == new)
        #expect(pieces.index(of: new.position, new.id) == plain.firstIndex(of: new))
      }
      if let old, new == nil { #expect(pieces.element(old.id, near: old.position) == nil) }
    }
    #expect(pieces.elements == plain)
    #expect(pieces.pieces.allSatisfy { (1...ListPiece.elementsMax).contains($0.elements.count) })
    #expect(ListPieces(plain.shuffled(using: &random)).elements == plain)
  }
}
