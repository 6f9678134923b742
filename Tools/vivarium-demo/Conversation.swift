import Foundation
import Vivarium

/// Two sides that talk through a store alone: each is told of the other's commits and answers its notes.
enum Conversation {
  enum Side: String {
    case first, second
  }

  /// Notes are numbered. The second side begins with 1, and the first has the last word.
  static let lastNote = 40
  /// The note by which the first side asks for a change of the other objects, and the one that comes with it.
  static let request = 1_000
  static let change = 1_001

  /// Answers until the last note. Gives the times from the other side's writing to this side's being told, the
  /// commit included.
  static func talk(
    _ store: Store, as side: Side, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Duration] {
    var times: [Duration] = []
    if side == .second { try store.write { try add(1, side, to: store) } }
    for id in stride(from: side == .first ? 1 : 2, through: lastNote, by: 2) {
      times.append(try await waitForNote(id, store))
      if id < lastNote { try store.write { try add(id + 1, side, to: store) } }
    }
    return times
  }

  /// Inside a write.
  static func add(_ id: Int, _ side: Side, to store: Store) throws {
    let note = Note()
    note.id = id
    note.writer = side.rawValue
    note.writtenNanoseconds = monotonicNanoseconds()
    try store.add(note)
  }

  /// Returns when the note is there, with the time from its writing to the notification that brought it; zero when
  /// it was there before.
  static func waitForNote(
    _ id: Int, _ store: Store, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Duration {
    let (told, teller) = AsyncStream<Int>.makeStream()
    let token = store.observe { _, _ in teller.yield(monotonicNanoseconds()) }
    defer { token.stop() }
    if store.object(Note.self, forPrimaryKey: id) != nil { return .zero }
    for await nanoseconds in told {
      guard let note = store.object(Note.self, forPrimaryKey: id) else { continue }
      return .nanoseconds(nanoseconds - note.writtenNanoseconds)
    }
    throw DemoError("The other side is gone.")
  }

  /// The whole of what the second side does.
  static func second(
    _ world: any World.Type, _ store: Store, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    report(try await talk(store, as: .second), .second)
    _ = try await waitForNote(request, store)
    try store.write {
      try world.change(store)
      try add(change, .second, to: store)
    }
  }

  static func report(_ times: [Duration], _ side: Side) {
    let sorted = times.filter { $0 > .zero }.sorted()
    guard let best = sorted.first, let worst = sorted.last else { return }
    let name = (side.rawValue + ":").padding(toLength: 7, withPad: " ", startingAt: 0)
    Terminal.say(
      "  \(name) was told of \(sorted.count) notes of the other side "
        + "\(milliseconds(sorted[sorted.count / 2])) after they were written (median; \(milliseconds(best)) to "
        + "\(milliseconds(worst)); the writer's commit included)")
  }
}

/// The machine's monotonic clock, the same in every process.
func monotonicNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}
