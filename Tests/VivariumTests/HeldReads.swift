import StorageInterface
import StoreValues
import Synchronization
import Vivarium
import VivariumTestSupport

/// How many reads hold each version.
final class HeldReads: Sendable {
  let ended = Signal()
  private let counts = Mutex<[Version: Int]>([:])

  func count(of version: Version) -> Int { counts.withLock { $0[version] ?? 0 } }
  fileprivate func add(_ number: Int, to version: Version) { counts.withLock { $0[version, default: 0] += number } }
}

extension StoreConfiguration {
  /// The same store, whose reads are counted.
  func counted(by held: HeldReads) -> StoreConfiguration {
    var copy = self
    copy.backend = ForwardingBackend(backend) { engine in ForwardingEngine(engine, read: { HeldRead(base: $0, held: held) }) }
    return copy
  }
}

private final class HeldRead: ForwardingRead {
  let base: any ReadTransaction
  private let held: HeldReads
  private let isEnded = Atomic(false)

  init(base: any ReadTransaction, held: HeldReads) {
    (self.base, self.held) = (base, held)
    held.add(1, to: base.version)
  }

  func end() {
    if isEnded.exchange(true, ordering: .relaxed) { return }
    held.add(-1, to: base.version)
    base.end()
    held.ended.fire()
  }

  deinit { end() }
}
