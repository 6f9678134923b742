import StorageConformance
import Testing
import VivariumTestSupport

/// What two engines read in old and new versions of one file, and their writes.
@Suite struct DecodingTests {
  @Test func randomHistoriesShowWhatAnEngineShowsThatKnowsNothing() throws {
    let place = Place()
    var run = try DecodingRun(.forTest("histories read again in a file of SQLite's"), rows: 1_000) { try place.open() }
    try run.play(environmentNumber("VIVARIUM_IMAGE_COMMITS", default: 6))
  }
}
