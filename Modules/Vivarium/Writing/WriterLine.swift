import Dispatch
import StorageInterface
import Synchronization

/// The order in which the writes of one process ask for the right to write a store.
///
/// Asynchronous writes wait for the worker before they stand in line at the store's lock. So that a synchronous write does
/// not overtake them, they take a place here when they are asked for, and so does a synchronous write that finds
/// somebody here. Each place asks for the right when it has come to the front, and is left once the right is there. When
/// nobody is here a synchronous write goes to the lock at once, whose line is that of all processes.
final class WriterLine: Sendable {
  /// A place in line. Whoever takes one leaves it.
  final class Place: Sendable {
    private let turn = DispatchSemaphore(value: 0)
    private let line: WriterLine

    fileprivate init(_ line: WriterLine) { self.line = line }

    /// Blocks until the place is at the front, or was left; false past the deadline. Call once.
    func wait(_ deadline: Deadline) -> Bool {
      guard let time = deadline.dispatchTime else {
        turn.wait()
        return true
      }
      return turn.wait(timeout: time) == .success
    }

    /// Lets the next one come to the front. Idempotent.
    func leave() { line.leave(self) }

    fileprivate func come() { turn.signal() }
  }

  private let places = Mutex<[Place]>([])

  /// How many places are taken.
  var count: Int { places.withLock { $0.count } }

  /// Takes the last place.
  func join() -> Place {
    let place = Place(self)
    places.withLock { places in
      places.append(place)
      if places.count == 1 { place.come() }
    }
    return place
  }

  /// Takes the last place if there is any before it.
  func joinIfOccupied() -> Place? {
    places.withLock { places in
      guard !places.isEmpty else { return nil }
      let place = Place(self)
      places.append(place)
      return place
    }
  }

  fileprivate func leave(_ place: Place) {
    places.withLock { places in
      guard let at = places.firstIndex(where: { $0 === place }) else { return }
      places.remove(at: at)
      // Whoever waits in a place that was left is let go.
      if at == 0 { places.first?.come() } else { place.come() }
    }
  }
}

extension SharedEngine {
  /// A place behind the writes that were asked for before and have not begun; nil when there is none. On the worker itself
  /// never: those behind it wait for the worker.
  func placeBehindOthers() -> WriterLine.Place? {
    if DispatchQueue.getSpecific(key: SharedEngine.isWorker) == true { return nil }
    return line.joinIfOccupied()
  }
}

extension Deadline {
  /// nil: no end.
  var dispatchTime: DispatchTime? {
    guard let remaining else { return nil }
    let (seconds, attoseconds) = remaining.components
    return .now() + .nanoseconds(Int(clamping: min(seconds, 1 << 32) * 1_000_000_000 + attoseconds / 1_000_000_000))
  }
}
