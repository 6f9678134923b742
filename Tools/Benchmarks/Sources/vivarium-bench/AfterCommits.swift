import Vivarium

/// What is read again right after somebody else's commit of one object.
extension Course {
  func afterCommits(_ contestant: VivariumContestant, _ data: Dataset) throws {
    guard wants("W16") || wants("W17") else { return }
    var random = SplitMix(seed: 16)
    let reader = try Store(contestant.configuration)
    let all = reader.objects(TaskItem.self)
    if wants("W16") {
      // Results of their own each time: nothing of what was found before is to help.
      func urgent() -> Int { all.where { $0.priority >= 7 && $0.done == false }.count }
      var count = urgent()
      let note = "refresh and count, two conditions, after a commit of one object"
      try repeated("W16", reader, note, commit: { _ = try contestant.moveDues([random.below(self.count)], &random) {} }) {
        count = urgent()
      }
      // Beside it: the same question of a version that was read before.
      try query("W16.warm", runs: 21, "the same, without the commit") {
        reader.refresh()
        return urgent() == count
      }
    }
    for (name, isRelated) in [("W17", false), ("W17.related", true)] where wants(name) {
      let sorted = all.sorted(by: \.due)
      var sum = sorted[count / 2].id
      let note = "refresh and a sorted result's middle, after a commit of \(isRelated ? "what orders it" : "what it does not read")"
      let commit: () throws -> Void = {
        let id = random.below(self.count)
        if isRelated { _ = try contestant.moveDues([id], &random) {} } else { try contestant.updatePriorities([id]) }
      }
      try repeated(name, reader, note, commit: commit) { sum &+= sorted[count / 2].id }
    }
  }

  /// The median of 21 times that a store moves on and reads, a commit before each.
  private func repeated(_ name: String, _ reader: Store, _ note: String, commit: () throws -> Void, _ read: () -> Void) throws {
    guard wants(name) else { return }
    var (walls, cpus): ([Double], [Double]) = ([], [])
    for _ in 0..<21 {
      try commit()
      let (wall, cpu) = (Clock.wall(), Clock.cpu())
      reader.refresh()
      read()
      walls.append(Clock.wall() - wall)
      cpus.append(Clock.cpu() - cpu)
    }
    line(name, walls.sorted()[10], cpus.sorted()[10], note)
  }
}
