import StoreValues
import Synchronization

/// The decoded tables of a store in this process: read once for all its snapshots and writes, and carried from version to
/// version except for the chunks that commits wrote.
///
/// A lane is kept for the newest version that a reader asked for. A reader of another version gets a lane for that version,
/// which shares all pages except those with chunks written in between. Commits do no work for a lane that nobody asks for.
final class ColumnImage: Sendable {
  /// A version that is read, and the memory in which its snapshot has values without an owner.
  struct Moment: Sendable {
    let version: UInt64
    let memory: UInt64
  }

  private struct Kept<Slot: BitwiseCopyable>: Sendable {
    var moment: Moment
    var lane: Lane<Slot>
    var use: UInt64
  }

  private struct Table: Sendable {
    var frames: Kept<ChunkFrame>?
    /// Indexed by property number.
    var columns: [Kept<ChunkCell>?] = []
  }

  private struct State: Sendable {
    /// Nil until a lane is asked for.
    var log: TouchLog?
    /// Indexed by table number.
    var tables: [Table] = []
  }

  let budget: ImageBudget
  private let state = Mutex(State())
  private let hasLanes = Atomic(false)

  init(_ budget: ImageBudget) { self.budget = budget }

  /// Whether a lane was ever asked for.
  var isAsked: Bool { hasLanes.load(ordering: .relaxed) }

  /// The version after which commits must be passed to `follow` before lanes of `version` are asked for; nil if none is
  /// missing.
  func missing(before version: UInt64) -> UInt64? {
    let (last, isFirst) = state.withLock { state in
      defer { if state.log == nil { state.log = TouchLog(at: version) } }
      return (state.log?.last, state.log == nil)
    }
    if isFirst {
      hasLanes.store(true, ordering: .relaxed)
      budget.join(self)
    }
    guard let last, last < version else { return nil }
    return last
  }

  /// Records the writes of the commits after one version up to another. If they are unknown (nil), the image starts afresh.
  func follow(_ commits: [TouchedChunks]?, after first: UInt64, to version: UInt64) {
    state.withLock { state in
      guard var log = state.log, log.last < version else { return }
      guard let commits, log.last >= first else {
        state = State(log: TouchLog(at: version))
        return
      }
      for commit in commits.dropFirst(Int(log.last - first)) { log.append(commit) }
      state.log = log
      shortenIfDue(&state)
    }
  }

  /// Records the writes of this engine's commit, if it is the next one.
  func note(_ commit: TouchedChunks, version: UInt64) {
    state.withLock { state in
      guard let last = state.log?.last, last + 1 == version else { return }
      state.log?.append(commit)
      shortenIfDue(&state)
    }
  }

  /// The rows of a table's chunks.
  func frames(_ table: TableID, _ moment: Moment, pages: Int) -> Lane<ChunkFrame> {
    state.withLock { state in
      take(&state.tables[place(of: table, &state)].frames, table, nil, state.log, moment, pages: pages)
    }
  }

  /// The cells of a column.
  func cells(_ column: ColumnID, _ moment: Moment, pages: Int) -> Lane<ChunkCell> {
    state.withLock { state in
      let (i, property) = (place(of: column.table, &state), Int(column.property.rawValue))
      while state.tables[i].columns.count <= property { state.tables[i].columns.append(nil) }
      return take(&state.tables[i].columns[property], column.table, column.property, state.log, moment, pages: pages)
    }
  }

  private func place(of table: TableID, _ state: inout State) -> Int {
    let i = Int(table.rawValue)
    while state.tables.count <= i { state.tables.append(Table()) }
    return i
  }

  private func take<Slot>(
    _ kept: inout Kept<Slot>?, _ table: TableID, _ property: PropertyID?, _ log: TouchLog?, _ moment: Moment, pages: Int
  ) -> Lane<Slot> {
    let lane: Lane<Slot>
    if let kept, kept.moment.memory == moment.memory,
      let touched = log?.touched(table, property, between: kept.moment.version, and: moment.version)
    {
      lane = kept.lane.without(touched, pages: pages, budget)
    } else {
      lane = Lane(pages: pages, budget)
    }
    if kept.map({ $0.moment.version <= moment.version }) ?? true {
      kept = Kept(moment: moment, lane: lane, use: budget.tick())
    }
    return lane
  }

  /// Advances all lanes to the newest version before the log of the commits in between is shortened.
  private func shortenIfDue(_ state: inout State) {
    guard let log = state.log, log.isOverlong else { return }
    for i in state.tables.indices {
      let table = TableID(UInt16(truncatingIfNeeded: i))
      advance(&state.tables[i].frames, table, nil, log)
      for j in state.tables[i].columns.indices {
        advance(&state.tables[i].columns[j], table, PropertyID(UInt16(truncatingIfNeeded: j)), log)
      }
    }
    state.log?.shorten()
  }

  private func advance<Slot>(_ kept: inout Kept<Slot>?, _ table: TableID, _ property: PropertyID?, _ log: TouchLog) {
    guard let old = kept else { return }
    kept = nil
    guard let touched = log.touched(table, property, between: old.moment.version, and: log.last) else { return }
    kept = Kept(
      moment: Moment(version: log.last, memory: old.moment.memory), lane: old.lane.without(touched, pages: 0, budget),
      use: old.use)
  }
}

extension ColumnImage {
  /// Drops all lanes. Current readers keep theirs.
  func forgetAll() { state.withLock { $0.tables = [] } }

  /// The last use of the lane that was unused for longest.
  var oldestUse: UInt64? {
    state.withLock { state in
      state.tables.flatMap { table in [table.frames?.use] + table.columns.map { $0?.use } }.compactMap { $0 }.min()
    }
  }

  /// Drops the lane with this last use.
  func forget(lastUsed use: UInt64) {
    state.withLock { state in
      for i in state.tables.indices {
        if state.tables[i].frames?.use == use { state.tables[i].frames = nil }
        for column in state.tables[i].columns.indices where state.tables[i].columns[column]?.use == use {
          state.tables[i].columns[column] = nil
        }
      }
    }
  }
}
