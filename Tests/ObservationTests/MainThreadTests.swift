import Foundation
import StorageLMDB
import Testing
import Vivarium
import VivariumTestSupport

/// Programs whose `main` is not asynchronous: their main thread is served by a run loop or by `dispatchMain()`.
@Suite(.serialized) struct MainThreadTests {
  @Test(arguments: ["actor", "queue", "run-loop"], ["run-loop", "dispatch"])
  func anObserverOnTheMainThreadHearsOfCommitsHoweverItIsServed(context: String, way: String) throws {
    let folder = TemporaryDirectory("main-thread")
    defer { withExtendedLifetime(folder) {} }
    let path = folder.file("store").path
    let store = try Store(Store.Configuration.lmdb(URL(fileURLWithPath: path), models: Mark.self).byHand)
    try store.write { try store.add(Mark(number: 1, rank: 1)) }
    let child = try WatchingChild("lmdb", path, "observe-on-main", context, way)
    let first = try #require(ChildCall(child.line()))
    #expect(first.numbers == [1] && first.insertions.isEmpty)
    // A commit of another process.
    try store.write { try store.add(Mark(number: 2, rank: 2)) }
    let second = try #require(ChildCall(child.line()))
    #expect(second.numbers == [1, 2] && second.insertions == [1])
    // And one that is made there: the store accepts its own context.
    child.say("3")
    let third = try #require(ChildCall(child.line()))
    #expect(third.numbers == [1, 2, 3] && third.insertions == [2])
    store.refresh()
    #expect(store.objects(Mark.self).map(\.number).sorted() == [1, 2, 3])
    #expect(child.end())
  }
}
