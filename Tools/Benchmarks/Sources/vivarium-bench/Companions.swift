import ResultsControl
import StoreOperations
import Vivarium

/// Hears of batches, and counts the rows in them.
private final class RowCounter: ResultsControllerDelegate {
  typealias Element = String
  private(set) var rows = 0

  func didChangeObject(
    _ object: String?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
  ) {
    rows += 1
  }
}

/// Nothing was told of changes whose telling was to be measured.
private struct UnheardTurns: Error { let workload: String }

extension VivariumContestant {
  /// Moves tasks to the next project, in one transaction.
  func changeProjects(_ ids: [Int]) throws {
    try store.write {
      for id in ids {
        if let task = store.object(TaskItem.self, forPrimaryKey: Int64(id)) { task.project = (task.project + 1) % 1_000 }
      }
    }
  }
}

extension Course {
  /// What a results controller over all tasks in a thousand sections costs.
  func companions(_ contestant: VivariumContestant) throws {
    if Course.workloads.contains(where: { $0.hasPrefix("R.") && wants($0) }) { try controllers(contestant) }
  }

  /// What operations cost. Comes last: what a million of them leave to the allocator, which puts it in order some time later,
  /// would count as the next workload's.
  func operations() throws { if wants("I.bind") { try binds() } }

  private func controllers(_ contestant: VivariumContestant) throws {
    var configuration = contestant.configuration
    // Told inside 'refresh', whose turns are what is measured.
    configuration.manualDelivery = true
    let store = try Store(configuration, isolation: nil)
    let request = ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.project), SortKey(\TaskItem.due)])

    var changeCount = 0
    let token = request.execute().observe(isolation: nil) { _ in changeCount += 1 }
    store.refresh()
    let plain = try turns(contestant, store, ("R.k1.plain", 1), "the turn that tells a plain observer of the same rows") { changeCount }
    token.stop()

    let sections = try ResultsController(request: request, sectionedBy: .by(\.project), mapper: \.title)
    try query("R.fetch", runs: 1, "the first fetch of all tasks in a thousand sections") {
      sections.performFetch(isolation: nil)
      return sections.numberOfSections
    }
    // Where that was not asked for.
    sections.performFetch(isolation: nil)
    let counter = RowCounter()
    sections.delegate = counter
    let note = "the turn that tells a controller with sections, from the commit's return"
    let sectioned = try turns(contestant, store, ("R.k1", 1), note) { counter.rows }
    let own = max(0, sectioned - plain)
    line("R.k1.own", own, own, "CPU: what sections, mapper and delegate add to that")
    _ = try turns(contestant, store, ("R.k10000", 10_000), "the same for 10,000 tasks") { counter.rows }
    try paths(sections, store)
    sections.stop()

    let filtered = try ResultsController(
      request: request, sectionedBy: .by(\.project), mapper: \.title, filter: { $0.priority != 9 })
    try query("R.fetch.filter", runs: 1, "the same with a filter by code, which is asked of every row") {
      filtered.performFetch(isolation: nil)
      return filtered.numberOfObjects
    }
    filtered.performFetch(isolation: nil)
    let filteredCounter = RowCounter()
    filtered.delegate = filteredCounter
    _ = try turns(contestant, store, ("R.k1.filter", 1), "as R.k1 with a filter by code") { filteredCounter.rows }
    filtered.stop()
  }

  /// The median of some turns, each after tasks got another project: wall and CPU time from the commit's return.
  private func turns(
    _ contestant: VivariumContestant, _ store: Store, _ workload: (name: String, rows: Int), _ note: String,
    _ heard: () -> Int
  ) throws -> Double {
    let runs = workload.rows == 1 ? 51 : 5
    guard count >= workload.rows else { return 0 }
    var random = SplitMix(seed: 18)
    var (walls, cpus): ([Double], [Double]) = ([], [])
    for _ in 0..<runs {
      try contestant.changeProjects((0..<workload.rows).map { _ in random.below(count) })
      let (wall, cpu) = (Clock.wall(), Clock.cpu())
      store.refresh()
      walls.append(Clock.wall() - wall)
      cpus.append(Clock.cpu() - cpu)
    }
    guard heard() > 0 else { throw UnheardTurns(workload: workload.name) }
    line(workload.name, walls.sorted()[runs / 2], cpus.sorted()[runs / 2], check: "\(heard())", note)
    return cpus.sorted()[runs / 2]
  }

  private func paths(_ controller: ResultsController<TaskItem, String>, _ store: Store) throws {
    var random = SplitMix(seed: 19)
    let tasks = (0..<1_000).compactMap { _ in store.object(TaskItem.self, forPrimaryKey: Int64(random.below(count))) }
    try query("R.path", runs: 5, items: tasks.count, "where one object is shown") {
      tasks.count { controller.indexPath(of: $0) != nil }
    }
  }

  private func binds() throws {
    let store = try Store(.memory(models: TaskItem.self), isolation: nil)
    try query("I.bind", runs: 5, items: 1_000_000, "per flatMap: composed, run and let go of, a million in one chain") {
      var io = StoreRO<Int>(value: 0)
      for _ in 0..<1_000_000 { io = io.flatMap { n in StoreRO<Int>(value: n &+ 1) } }
      return try store.run(io: io)
    }
  }
}
