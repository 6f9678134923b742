import Foundation
import StorageLMDB
import SyncClient
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Post {
  var title = ""
  var likes = 0
}

@Model final class Draft {
  var text = ""
}

/// What Docs/Sync.md shows compiles, and does what it says.
@MainActor @Suite struct SyncPageTests {
  @Test func `the page's store is written like any other`() throws {
    let directory = TemporaryDirectory("sync")
    let url = directory.file("posts")
    var configuration = Store.Configuration.lmdb(url, models: Post.self, Draft.self)
    configuration.replicate(SyncConfiguration(localTypes: [Draft.self]))  // as `sync`, here without a server
    let store = try Store(configuration)
    let post = Post()
    try store.write { try store.add(post) }
    try store.write { post.increment(\.likes) }  // two devices at once: two likes
    try store.write { post.likes += 1 }  // two devices at once: one like
    #expect(post.likes == 2)
    let draft = Draft()
    try store.write { try store.add(draft) }
    #expect(store.objects(Draft.self).count == 1)
  }

  @Test func `an app is told of resets by closures of the configuration`() {
    let backups = TemporaryDirectory("sync").url
    var configuration = SyncConfiguration()
    configuration.options.beforeReset = { before in
      _ = try? before.read { store in try store.writeCopy(to: backups.appending(path: "\(UUID())")) }
    }
    configuration.options.afterReset = { before, outcome in
      let lost = try? before.read { store in outcome.droppedObjects(Post.self, in: store).map(\.title) }
      print("\(outcome.recovered) writes were done again, \(outcome.dropped) were not: \(lost ?? [])")
    }
    #expect(configuration.options.beforeReset != nil && configuration.options.afterReset != nil)
  }

  @Test func `an object in no store is counted at once`() {
    let post = Post()
    post.increment(\.likes, by: 3)
    #expect(post.likes == 3)
  }
}
