import ChangeTracker
import StorageInterface
import StoreValues

/// One observed result, kept at the notifier's version for all its observers. Accessed under the notifier's lock.
final class KeptResult {
  private struct WeakState { weak var state: KnownState? }

  let recipe: ResultRecipe
  private var upkeep: any ResultUpkeep
  /// The values that the question depends on.
  private(set) var boundTo: [Value?]
  /// Replaces change sets as the content of notifications.
  private var total: KeptTotal?
  /// The states given to tokens: one for all tokens with the same state.
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

  /// The question, if it is asked again as a whole after these commits. Reads nothing.
  func wholeQuestion(changedBy records: [CommitRecord]) -> ComparedQuestion? {
    guard let question = upkeep.wholeQuestion, records.contains(where: question.mayBeChanged) else { return nil }
    return question
  }

  private func startTotal(in reading: any StorageReading) throws(StorageError) {
    if let question = recipe.total { total = try KeptTotal(question, of: current, in: reading) }
  }

  /// The result at the notifier's version.
  var current: ResultVersion { upkeep.current }

  /// The number of evaluations after the first.
  var evaluations: Int { upkeep.evaluations }

  /// The number of values read to keep a total.
  var valuesRead: Int { total?.valuesRead ?? 0 }

  /// The cost of row-by-row upkeep so far.
  var work: ViewUpkeep.Work { rowUpkeep?.work ?? .init() }

  /// Whether rows are kept one by one, without anything else.
  var isKeptByRowsAlone: Bool { total == nil && upkeep.rowUpkeep === upkeep }

  /// Whether a commit's step costs no more than the objects it names: rows are kept one by one, none is reached over links, and
  /// nothing else is kept.
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
  /// Advances the result to the version that `to` reads; nil if nothing touched it. If it throws, the result is torn and must
  /// be rebuilt. `answer` was asked of that version.
  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, _ answer: Answer? = nil
  ) throws(StorageError) -> ResultStep? {
    guard records.contains(where: upkeep.isAffected) else { return nil }
    guard let step = try upkeep.step(records, from: from, to: to, asked: answer?.rows) else {
      if let rowUpkeep { note(outside: rowUpkeep.outside) }
      return nil
    }
    if let asked = answer?.total {
      total?.follow(asked)
    } else {
      try total?.follow(step, to: current, from: from, to: to)
    }
    return step
  }

  /// Notes that objects that are not rows now were touched: tokens with pending changes may know them.
  private func note(outside marks: @autoclosure () -> [Int64: RowMarks]) {
    let waiting = living().filter { !$0.isEmpty }
    if waiting.isEmpty { return }
    let marks = marks()
    for state in waiting { state.note(outside: marks) }
  }

  /// Adds a step to the state of each token. The tokens `skipping` know its result already. `readings` are those of the step.
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
    // Tokens that were separated hold their own states, which are not in the list yet.
    let those = touching(records)
    for state in living() { state.add(step, by: those) }
    for observation in apart { states += observation.states.map { WeakState(state: $0) } }
  }

  /// Full sort keys from before a step; nil if positions need none. Untouched rows still have the same keys.
  private func keysBefore(_ reading: any StorageReading) -> FullKeys? { rowUpkeep?.fullKeys(in: reading) }

  /// The same for a total.
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

  /// Those commits that may have touched the result: if several make one step, not all of them need have.
  private func touching(_ records: [CommitRecord]) -> [CommitRecord] {
    records.count < 2 ? records : records.filter(upkeep.isAffected)
  }

  /// Rebuilds the view if its steps are unknown or failed. Objects that `records` modified count as touched; all objects if the
  /// records are unknown. `answer` was asked of the same version.
  func rebuild(in reading: any StorageReading, by records: [CommitRecord]?, _ answer: Answer? = nil) throws(StorageError) {
    if let anew = answer?.anew {
      (boundTo, upkeep, total) = (anew.boundTo, anew.upkeep, anew.total)
    } else {
      boundTo = try recipe.binding?.values(in: reading) ?? []
      upkeep = try recipe.upkeep(in: reading)
      try startTotal(in: reading)
    }
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

  /// The state for a token that was just given the result.
  func currentState() -> KnownState {
    let living = living()
    if let shared = living.first(where: \.isEmpty) { return shared }
    let made = KnownState(upkeep.nothingPending())
    states.append(WeakState(state: made))
    return made
  }

  /// The pending notification of one token at this version; nil: none. `reading` reads the notifier's version.
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
