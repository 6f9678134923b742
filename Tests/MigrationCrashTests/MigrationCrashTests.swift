import Foundation
import MigrationSamples
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

/// A process that migrates a file is killed at every step: the file has all of the migration, or nothing of it.
/// `VIVARIUM_MIGRATION_KILLS` sets how many steps are tried (0: every one), `VIVARIUM_SEED` repeats a run's choices.
@Suite(.serialized) struct MigrationCrashTests {
  @Test(arguments: ["lmdb", "sqlite"]) func aMigrationThatIsKilledHappensWholeOrNotAtAll(kind: String) throws {
    let folder = TemporaryDirectory("migration-crash")
    let (before, after, steps) = try rehearse(kind, folder)
    var random = SeededGenerator.forTest(kind)
    let wanted = environmentNumber("VIVARIUM_MIGRATION_KILLS", default: 12)
    // The ends, where most is decided, always; the rest by lot.
    var tried = Set([1, 2, 3, steps - 2, steps - 1, steps])
    if wanted == 0 { tried = Set(1...steps) }
    while tried.count < min(wanted, steps) { tried.insert(1 + random.below(steps)) }
    var (undone, done) = (0, 0)
    for step in tried.sorted() {
      let place = folder.file("step-\(step)")
      try Samples.fill(Samples.before(Samples.backend(kind, place.path)))
      #expect(try MigratingProcess(kind, place.path, step: step).wasKilled())
      let found = try Samples.contents(Samples.backend(kind, place.path))
      // The last step is the one after the commit.
      #expect(found == (step == steps ? after : before), "step \(step) of \(steps)")
      if found == after { done += 1 } else { undone += 1 }
      try expectUsable(kind, place, after)
    }
    print("\(kind): \(steps) steps, \(tried.count) tried, \(undone) undone, \(done) done")
    #expect(done == 1)
  }

  @Test(arguments: ["lmdb", "sqlite"]) func aMigrationThatIsKilledInItsCommitHappensWholeOrNotAtAll(kind: String) throws {
    let folder = TemporaryDirectory("migration-crash")
    let (before, after, _) = try rehearse(kind, folder)
    var random = SeededGenerator.forTest(kind)
    for round in 0..<max(4, environmentNumber("VIVARIUM_MIGRATION_KILLS", default: 8) / 2) {
      let place = folder.file("round-\(round)")
      try Samples.fill(Samples.before(Samples.backend(kind, place.path)))
      let turns = 1 + random.below(1 << (4 + random.below(20)))
      // It may be through before its time has come.
      _ = try MigratingProcess(kind, place.path, turns: turns).wasKilled()
      let found = try Samples.contents(Samples.backend(kind, place.path))
      #expect(found == before || found == after, "after \(turns) turns")
      try expectUsable(kind, place, after)
    }
  }

  /// What the store holds before and after, and how many steps lie between.
  private func rehearse(
    _ kind: String, _ folder: TemporaryDirectory
  ) throws -> (before: Contents, after: Contents, steps: Int) {
    let place = folder.file("whole").path
    try Samples.fill(Samples.before(Samples.backend(kind, place)))
    let before = try Contents(Samples.contents(Samples.backend(kind, place)))
    let steps = try #require(MigratingProcess(kind, place).number())
    let after = try Contents(Samples.contents(Samples.backend(kind, place)))
    #expect(before.version == 0 && after.version == 1 && steps > 50)
    #expect(after.text.contains("F7 L7") && after.text.contains("note it"))
    return (before, after, steps)
  }

  /// The dead process holds nothing, and the next one brings the file to its end.
  private func expectUsable(_ kind: String, _ place: URL, _ after: Contents) throws {
    var configuration = Samples.after(Samples.backend(kind, place.path))
    configuration.writeTimeout = .seconds(600)
    let store = try Store(configuration)
    try store.write { try store.add(After.Note(text: "later")) }
    try store.write { try store.delete(store.objects(After.Note.self).where { $0.text == "later" }) }
    #expect(try Contents(Samples.contents(Samples.backend(kind, place.path))) == after)
  }
}

struct Contents: Equatable {
  let version: UInt64
  let text: String

  init(_ contents: (version: UInt64, text: String)) { (version, text) = contents }

  static func == (a: (version: UInt64, text: String), b: Contents) -> Bool { Contents(a) == b }
}
