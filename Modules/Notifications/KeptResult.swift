import ChangeTracker
import StorageInterface
import StoreValues

/// One observed result, kept at the notifier's version for all who observe it. Under the notifier's lock.
final class KeptResult {
  private struct WeakState { weak var state: KnownState? }

  let recipe: ResultRecipe
  private var upkeep: any ResultUpkeep
  /// What the question was made with.
  private(set) var boundTo: [Value?]
  /// What observers hear instead of change sets.
  private var total: KeptTotal?
  /// What the tokens were given: one state for all tokens that know the same.
  private var states: [WeakState] = []
  private(set) var observations: [ResultObservation] = []
  private var filters: [ObjectIdentifier: ModificationFilter] = [:]

  /// Evaluates the question. O(n), or O(n log n) for an order.
  init(_ recipe: ResultRecipe, in reading: any StorageReading) throws(StorageError) {
    self.recipe = recipe
    boundTo = try recipe.binding?.values(in: reading) ?? []
    upkeep = try recipe.upkeep(in: reading)
    try startTotal(in: reading)
  }

  private func startTotal(in reading: any StorageReading) throws(StorageError) {
    if let question = recipe.total { total = try KeptTotal(question, of: current, in: reading) }
  }

  /// The result at the notifier's version.
  var current: ResultVersion { upkeep.current }

  /// How often the question was asked again after the first time.
  var evaluations: Int { upkeep.evaluations }

  /// How many values were read to keep a total.
  var valuesRead: Int { total?.valuesRead ?? 0 }

  /// What upkeep row by row has cost so far.
  var work: ViewUpkeep.Work { rowUpkeep?.work ?? .init() }

  /// Whether rows are kept one by one, and nothing else is.
  var isKeptByRowsAlone: Bool { total == nil && upkeep.rowUpkeep === upkeep }

  /// Whether the step of a commit costs no more than the objects that it names: rows are kept one by one, none is
  /// reached over links, and nothing else is kept.
  func costsItsRowsAlone(_ record: CommitRecord) -> Bool {
    guard isKeptByRowsAlone, let rowUpkeep, recipe.binding?.isTouched(by: record) != true else { return false }
    return !rowUpkeep.isReachedOverLinks(by: record)
  }

  private var rowUpkeep: ViewUpkeep? { upkeep.rowUpkeep }
}

// MARK: - Observers

extension KeptResult {
  func attach(_ observation: ResultObservation) {
    observations.append(observation)
    refilter(observation)
    rewatch()
  }

  func detach(_ observation: ResultObservation) {
    observations.removeAll { $0 === observation }
    filters[ObjectIdentifier(observation)] = nil
    rewatch()
  }

  private func refilter(_ observation: ResultObservation) {
    let paths = upkeep.follow(observation.filter)
    filters[ObjectIdentifier(observation)] = .only(observation.filter.properties, paths: paths)
  }

  private func rewatch() {
    var properties = PropertySet()
    for observation in observations { properties.formUnion(observation.filter.properties) }
    upkeep.watch(.only(properties))
  }
}

// MARK: - Commits

extension KeptResult {
  /// Takes the result to the version that `to` reads; nil when nothing touched it. One that throws is torn, and made anew.
  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> ResultStep? {
    guard records.contains(where: upkeep.isAffected) else { return nil }
    guard let step = try upkeep.step(records, from: from, to: to) else {
      if let rowUpkeep { note(outside: rowUpkeep.outside) }
      return nil
    }
    try total?.follow(step, to: current, from: from, to: to)
    return step
  }

  /// Objects that are no rows now were touched: tokens with something pending may know them.
  private func note(outside marks: @autoclosure () -> [Int64: RowMarks]) {
    let waiting = living().filter { !$0.isEmpty }
    if waiting.isEmpty { return }
    let marks = marks()
    for state in waiting { state.note(outside: marks) }
  }

  /// Adds a step to what each token knows. `skipping` know its result already. `readings` are those of the step.
  func add(
    _ step: ResultStep, by records: [CommitRecord], skipping: [ResultObservation] = [],
    _ readings: (from: any StorageReading, to: any StorageReading)
  ) throws(StorageError) {
    let skipping = skipping.filter { $0.recipe.identity.isSame(as: recipe.identity) }
    if let total { return note(total, by: records, skipping: skipping) }
    for observation in skipping {
      observation.noteMove()
      try observation.separate { known throws(StorageError) in
        try known.copy(skipping: step, keysBefore(readings.from))
      }
    }
    var apart = skipping
    for observation in observations where !observation.ignoredAuthors.isEmpty {
      let heard = records.filter { record in !(record.author.map(observation.ignoredAuthors.contains) ?? false) }
      if heard.count == records.count || apart.contains(where: { $0 === observation }) { continue }
      apart.append(observation)
      observation.noteMove()
      let rows: Set<Int64>? = heard.isEmpty ? [] : try rowUpkeep?.rows(touchedBy: heard, from: readings.from, to: readings.to)
      let those = touching(heard)
      try observation.separate { known throws(StorageError) in
        try known.copy(adding: step, notifying: rows, keysBefore(readings.from), by: those)
      }
    }
    // Those that went apart hold their own states, which are not in the list yet.
    let those = touching(records)
    for state in living() { state.add(step, by: those) }
    for observation in apart { states += observation.states.map { WeakState(state: $0) } }
  }

  /// Full sort keys as they were before a step; nil where places are known without them. Rows that were not touched have them still.
  private func keysBefore(_ reading: any StorageReading) -> FullKeys? { rowUpkeep?.fullKeys(in: reading) }

  /// The same of a total.
  private func note(_ total: KeptTotal, by records: [CommitRecord], skipping: [ResultObservation]) {
    if total.before == total.value { return }
    let those = touching(records)
    for observation in observations {
      let ignored = observation.ignoredAuthors
      let heard = ignored.isEmpty ? those : those.filter { !($0.author.map(ignored.contains) ?? false) }
      let isSkipped = !ignored.isEmpty && records.allSatisfy { $0.author.map(ignored.contains) ?? false }
      if isSkipped || skipping.contains(where: { $0 === observation }) {
        observation.skip(from: total.before, to: total.value)
      } else {
        observation.note(heard, total: total.value)
      }
    }
  }

  /// Which of some commits may have touched the result: where several make one step, not each need have.
  private func touching(_ records: [CommitRecord]) -> [CommitRecord] {
    records.count < 2 ? records : records.filter(upkeep.isAffected)
  }

  /// Makes the view anew where its steps are not known or came to nothing. Objects that `records` modified count as
  /// touched; all of them where the records are not known.
  func rebuild(in reading: any StorageReading, by records: [CommitRecord]?) throws(StorageError) {
    boundTo = try recipe.binding?.values(in: reading) ?? []
    upkeep = try recipe.upkeep(in: reading)
    try startTotal(in: reading)
    for observation in observations { refilter(observation) }
    rewatch()
    if let total {
      let those = touching(records ?? [])
      for observation in observations { observation.note(those, total: total.value) }
      return
    }
    var marks: [Int64: RowMarks] = [:]
    for change in records?.flatMap(\.tables) ?? [] where change.table == upkeep.table {
      for object in change.modified {
        marks[object.key.rawValue, default: RowMarks()].formUnion(RowMarks(properties: object.properties))
      }
    }
    if records == nil {
      let everything = RowMarks(properties: PropertySet((0..<1_024).map { PropertyID($0) }), paths: .max)
      for key in current.keys(in: 0..<current.count) { marks[key] = everything }
    }
    for state in living() { state.lose(marks, by: records ?? []) }
  }

  private func living() -> [KnownState] {
    states.removeAll { $0.state == nil }
    return states.compactMap(\.state)
  }

  /// The state of a token that was just given the result.
  func currentState() -> KnownState {
    let living = living()
    if let shared = living.first(where: \.isEmpty) { return shared }
    let made = KnownState(upkeep.nothingPending())
    states.append(WeakState(state: made))
    return made
  }

  /// What one token is to be notified of at this version; nil: nothing. `reading` reads the notifier's version.
  func offer(
    to observation: ResultObservation, at version: Version, _ reading: any StorageReading
  ) throws(StorageError) -> ResultOffer? {
    if let total { return observation.offer(total.value, at: version) }
    guard let known = observation.known else { return observation.offer(.initial, currentState(), at: version) }
    if known.isEmpty { return nil }
    let keys = rowUpkeep?.fullKeys(in: reading)
    let filter = filters[ObjectIdentifier(observation)] ?? .all
    let (changes, deleted) = try known.changeSet(to: current, at: version, keys, filter)
    if changes.isEmpty {
      observation.rebase(on: currentState(), at: version)
      return nil
    }
    let change = ResultChange(
      changes: changes, from: observation.version, to: version, sources: known.sources, result: current,
      deletedRows: deleted)
    return observation.offer(.update(change), currentState(), at: version)
  }
}

extension Hashable {
  fileprivate func isSame(as other: any Hashable) -> Bool { AnyHashable(self) == AnyHashable(other) }
}
