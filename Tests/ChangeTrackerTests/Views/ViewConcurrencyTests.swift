import ChangeTracker
import Foundation
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@Suite struct ViewConcurrencyTests {
  private struct Handed: Sendable {
    let version: ViewVersion
    let keys: [Int64]
  }

  /// What readers are handed: a few versions of different ages, replaced at random so that they are released in
  /// any order, on any thread.
  private final class Desk: Sendable {
    private let slots = Mutex<[Handed]>([])
    private let ended = Atomic(false)

    func put(_ handed: Handed, at slot: Int) {
      let old: Handed? = slots.withLock { slots in
        if slots.count < 8 {
          slots.append(handed)
          return nil
        }
        defer { slots[slot % 8] = handed }
        return slots[slot % 8]
      }
      _ = old  // let go outside the lock
    }
    func take(_ slot: Int) -> Handed? { slots.withLock { $0.isEmpty ? nil : $0[slot % $0.count] } }
    func clear() { slots.withLock { $0 = [] } }
    func end() { ended.store(true, ordering: .releasing) }
    var isEnded: Bool { ended.load(ordering: .acquiring) }
  }

  /// Three threads read versions, old and new, while one edits the view and lets nodes be used again: each
  /// version reads as it did when it was made, to the end.
  @Test(arguments: [true, false]) func versionsStayAsTheyWereWhileTheViewGoesOn(isSorted: Bool) throws {
    let random = SeededGenerator.forTest()
    let desk = Desk()
    let wrong = Atomic(0)
    let reads = Atomic(0)
    let done = Signal()
    for reader in 0..<3 {
      let seed = random.seed &+ UInt64(reader)
      let thread = Thread { [desk] in
        var random = SeededGenerator(seed: seed)
        // At least one look at what is there in the end.
        var isLast = false
        while !isLast {
          isLast = desk.isEnded
          guard let handed = desk.take(random.below(8)) else { continue }
          if handed.version.allKeys != handed.keys { wrong.add(1, ordering: .relaxed) }
          let position = random.below(handed.keys.count)
          if handed.version.key(at: position)?.rawValue != handed.keys[position] { wrong.add(1, ordering: .relaxed) }
          reads.add(1, ordering: .relaxed)
        }
        done.fire()
      }
      thread.start()
    }
    let view = try write(to: desk, random.seed, isSorted)
    desk.end()
    #expect(done.wait(until: { done.count == 3 }))
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(reads.load(ordering: .relaxed) >= 3)
    desk.clear()
    #expect(view.keepsOnly([]), "a released version still keeps nodes")
  }

  private func write(to desk: Desk, _ seed: UInt64, _ isSorted: Bool) throws -> ResultView {
    var random = SeededGenerator(seed: seed)
    let universe = 600
    var places: [UInt64?] = (0..<universe).map { _ in random.oneIn(4) ? nil : isSorted ? random.next() % 99 : 0 }
    func row(_ i: Int) -> OrderedRow? { places[i].map { OrderedRow(prefix: $0, key: Int64(i)) } }
    func keys() -> [Int64] { (0..<universe).compactMap { row($0) }.sorted().map(\.key) }
    let entries = (0..<universe).compactMap { row($0) }.sorted().map(\.entry)
    let view = isSorted ? ResultView.testing(entries, leaf: 8, inner: 5) : .byKey(entries.map(\.key))
    for slot in 0..<400 {
      desk.put(Handed(version: view.latest, keys: keys()), at: random.below(8) + slot / 400)
      let changes = (0..<universe).shuffled(using: &random).prefix(1 + random.below(30)).map { i in
        let old = row(i)
        places[i] = random.oneIn(4) ? nil : isSorted ? random.next() % 99 : 0
        return RowChange(key: Int64(i), old: old, new: row(i), marks: RowMarks())
      }
      _ = try view.apply(changes)
    }
    return view
  }

  /// The view may go before its versions do.
  @Test func aVersionOutlivesItsView() {
    var view: ResultView? = .sorted((0..<1_000).map { ViewEntry(prefix: UInt64($0), key: Int64($0)) })
    let version = view?.latest
    view = nil
    #expect(version?.allKeys == Array(0..<1_000))
  }
}
