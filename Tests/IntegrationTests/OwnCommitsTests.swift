import Testing
import Vivarium
import VivariumTestSupport

/// What a notifier makes of the commits of its own process.
@Suite struct OwnCommitsTests {
  @Test(arguments: Engine.allCases) func theyAreHandedOverAndNotReadBackFromTheFile(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    var calls = 0
    let token = store.objects(Book.self).observe { _ in calls += 1 }
    store.refresh()
    let before = store.notifierWork.historyReads
    for number in 1...100 {
      try store.write { try store.add(Book(title: "\(number)", pages: number)) }
      store.refresh()
      // What is under way for this commit is over: a step that is late would look for the next one's record while it is being made.
      _ = store.notifierWork
    }
    let read = store.notifierWork.historyReads - before
    // The bell of a file is heard on a thread of its own, which may look between a commit and its end.
    #expect(calls == 101 && read <= (engine == .lmdb || engine == .sqlite ? 20 : 0), "\(read) of 100")
    token.stop()
  }
}
