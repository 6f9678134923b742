import StorageInterface
import StoreValues
import Synchronization
import VivariumTestSupport

extension StorageConformance {
  static let listenerChecks: [ConformanceCheck] = [
    ConformanceCheck("aListenerHearsOfEachCommitsVersion") { subject in
      let store = try ConformanceStore(subject)
      let heard = Signal()
      let newest = Mutex(Version(0))
      let listener = try store.engine.addCommitListener {
        if let version = try? store.engine.latestVersion() { newest.withLock { $0 = version } }
        heard.fire()
      }
      defer { listener.stop() }
      for _ in 0..<5 {
        let version = try store.write { write in
          try write.insert(store.pet)
          return write.version.next
        }
        try expect(heard.wait { newest.withLock { $0 } >= version }, "the listener did not hear of \(version)")
      }
    },
    ConformanceCheck("everyListenerHears") { subject in
      let store = try ConformanceStore(subject)
      let signals = (0..<4).map { _ in Signal() }
      let listeners = try signals.map { signal in try store.engine.addCommitListener { signal.fire() } }
      try store.write { try $0.insert(store.pet) }
      for signal in signals { try expect(signal.wait(), "a listener did not hear") }
      for listener in listeners { listener.stop() }
    },
    ConformanceCheck("aStoppedListenerHearsNothingAndMayBeStoppedAgain") { subject in
      let store = try ConformanceStore(subject)
      let (stopped, other) = (Signal(), Signal())
      let listener = try store.engine.addCommitListener { stopped.fire() }
      let witness = try store.engine.addCommitListener { other.fire() }
      defer { witness.stop() }
      listener.stop()
      let calls = stopped.count
      for _ in 0..<3 {
        try store.write { try $0.insert(store.pet) }
        try expect(other.wait(), "the other listener did not hear")
      }
      listener.stop()
      try expectEqual(stopped.count, calls, "calls after stop")
    },
    ConformanceCheck("aCommitAsksOnItsThreadWhetherAListenerIsTold") { subject in
      let store = try ConformanceStore(subject)
      let asked = Mutex<[UInt]>([])
      let other = Signal()
      let told = try store.engine.addCommitListener(
        unless: {
          asked.withLock { $0.append(currentThread()) }
          return true
        }) {}
      try store.write { try $0.insert(store.pet) }
      try expectEqual(asked.withLock { $0 }, [currentThread()], "the threads that asked")
      // Who is not told hears all the same.
      let untold = try store.engine.addCommitListener { other.fire() }
      try store.write { try $0.insert(store.pet) }
      try expect(other.wait(), "the listener that is not told did not hear")
      told.stop()
      untold.stop()
    },
    ConformanceCheck("aListenerMayStopItself") { subject in
      let store = try ConformanceStore(subject)
      let own = Mutex<(any CommitListener)?>(nil)
      let other = Signal()
      let listener = try store.engine.addCommitListener {
        own.withLock { $0 }?.stop()
        other.fire()
      }
      own.withLock { $0 = listener }
      try store.write { try $0.insert(store.pet) }
      try expect(other.wait(), "the listener did not hear")
      own.withLock { $0 = nil }
    },
    ConformanceCheck("addingAndStoppingListenersBesideCommitsIsSafe") { subject in
      let store = try ConformanceStore(subject)
      let writer = Background { for _ in 0..<40 { try store.write { try $0.insert(store.pet) } } }
      for _ in 0..<200 { try store.engine.addCommitListener {}.stop() }
      try writer.wait()
      let heard = Signal()
      let listener = try store.engine.addCommitListener { heard.fire() }
      try store.write { try $0.insert(store.pet) }
      try expect(heard.wait(), "a listener that came later did not hear")
      listener.stop()
    },
  ]
}
