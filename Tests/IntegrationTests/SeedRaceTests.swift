import Foundation
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

/// Several who open a store that is not there yet, and some who are killed while they do.
@Suite(.serialized) struct SeedRaceTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  private static func add(_ title: String, _ configuration: Store.Configuration) throws {
    let store = try Store(configuration)
    try store.write { try store.add(Book(title: title)) }
  }

  @Test(arguments: files) func threadsThatOpenAtOnceShareOneCopy(engine: Engine) throws {
    let place = try SeedPlace(engine)
    let configuration = place.configuration
    let threads = (0..<4).map { number in
      onThread {
        do { try SeedRaceTests.add("\(number)", configuration) } catch { Issue.record("\(error)") }
      }
    }
    for thread in threads { #expect(thread.wait()) }
    #expect(try SeedPlace.titles(configuration) == ["0", "1", "2", "3"] + SeedPlace.titles)
  }

  @Test(arguments: files) func processesThatOpenAtOnceShareOneCopy(engine: Engine) async throws {
    for _ in 0..<3 {
      let place = try SeedPlace(engine)
      let configuration = place.configuration
      let child = ExitingChild(output: place.seeds.file("output").path)
      let own = child.whenMade(place.seeds.file("ready").path) { try SeedRaceTests.add("parent", configuration) }
      let (store, seeds) = (place.file.path, place.seeds.url.path)
      await #expect(processExitsWith: .success) { [store = store as String, seeds = seeds as String, name = engine.rawValue as String] in
        ExitingChild.redirectOutput(to: seeds + "/output")
        let engine = try #require(Engine(rawValue: name))
        _ = FileManager.default.createFile(atPath: seeds + "/ready", contents: nil)
        let file = URL(fileURLWithPath: store)
        try SeedRaceTests.add("child", SeedPlace.configuration(engine, file, URL(fileURLWithPath: seeds + "/seed")))
      }
      child.end()
      try await own.value
      // Whoever's copy had taken the place of the other's would have taken a book away.
      #expect(try SeedPlace.titles(configuration) == SeedPlace.titles + ["child", "parent"])
    }
  }

  /// `VIVARIUM_CRASH_ROUNDS` sets how often, `VIVARIUM_SEED` repeats a run's choices.
  @Test(arguments: files) func whoIsKilledLeavesNoFileOrAWholeOne(engine: Engine) async throws {
    var random = SeededGenerator.forTest()
    let place = try SeedPlace(engine)
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 4) {
      let given = [engine.rawValue, place.file.path, place.seed.path, "\(random.below(300_000))"]
      await #expect(processExitsWith: .signal(SIGKILL)) { [given = given as [String]] in
        let (engine, turns) = (try #require(Engine(rawValue: given[0])), try #require(Int(given[3])))
        let configuration = SeedPlace.configuration(engine, URL(fileURLWithPath: given[1]), URL(fileURLWithPath: given[2]))
        onThread {
          var generator = SeededGenerator(seed: 1)
          for _ in 0..<turns { _ = generator.next() }
          kill(getpid(), SIGKILL)
        }
        while true {
          #expect(try SeedPlace.titles(configuration) == SeedPlace.titles)
          try? configuration.backend.remove()
        }
      }
      var configuration = place.configuration
      if FileManager.default.fileExists(atPath: place.file.path) {
        (configuration.seed, configuration.options.createsIfMissing) = (nil, false)
        #expect(try SeedPlace.titles(configuration) == SeedPlace.titles, "round \(round)")
      }
      #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles, "round \(round)")
      #expect(try place.names().allSatisfy { !$0.contains(".new-") }, "round \(round)")
      try place.configuration.backend.remove()
    }
  }
}
