extension Course {
  /// T: workloads in a store whose reads Observation sees, as those of the main actor are by default. Nobody observes them here: what
  /// is measured is what every read and every set costs more.
  func tracked(_ contestant: VivariumContestant, _ data: Dataset) throws {
    contestant.store.tracksReads = true
    defer { contestant.store.tracksReads = false }
    if wants("T.W3") {
      let ids = data.randomIDs(1_000_000, seed: 3)
      try query("T.W3", runs: 3, items: ids.count, "W3 with tracked reads") { try contestant.lookUps(ids) }
    }
    try query("T.W4b", runs: 5, "W4b with tracked reads") { try contestant.readEverything() }
    try query("T.W6", runs: 50, "W6 with tracked reads") { try contestant.firstTitles(ofProject: 417).count }
    if wants("T.W7") {
      let projects = SplitMix.projects(1_000, seed: 7)
      try query("T.W7", runs: 5, items: projects.count, "W7 with tracked reads") {
        try projects.reduce(0) { try $0 + contestant.count(ofProject: $1) }
      }
    }
    if wants("T.W8") {
      let ids = data.distinctIDs(100_000, seed: 8)
      try query("T.W8", runs: 1, "W8 with tracked reads") {
        try contestant.updatePriorities(ids)
        return ids.count
      }
    }
  }
}
