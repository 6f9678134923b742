import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// What happened to results since they were looked at.
package enum ResultsStep<Element: Model> {
  /// They are there. Only for an observer that did not look first.
  case initial(FixedResults<Element>)
  /// A commit of which the observer is not notified led from what it has to this.
  case moved(FixedResults<Element>)
  /// From what the observer has to this. Never empty.
  case update(FixedResults<Element>, ChangeSet, ChangeDetails?)
  /// The results cannot be kept any more. The last step.
  case error(StoreError)
}

/// An observation that begins with the results as they are when it is made, at once: the first step leads from there to what
/// comes next, so nothing is lost between looking and listening, and nothing reported twice.
///
/// Belongs to the store's context.
package final class ResultsTracking<Element: Model> {
  /// The results when this was made.
  package let start: FixedResults<Element>
  package let token: NotificationToken
  /// The observer takes steps again. Keeps nothing of what was there at the start.
  package let resume: () -> Void

  /// - Parameter names: the properties whose modification counts, as with `observe(observingProperties:)`; nil: all.
  /// - Parameter also: paths that count beside all properties, where `names` is nil: over inverses, or farther than three
  ///   links.
  /// - Parameter startsNow: whether the observer knows the results as they are now; else the first step is `.initial`.
  /// - Parameter wants: whether the observer takes a step now. While it does not, what happens is kept as net changes;
  ///   call `resume()` when it does again.
  package init(
    _ results: Results<Element>, names: [String]? = nil, also: [String] = [], startsNow: Bool = true,
    isolation: isolated (any Actor)?, fileID: StaticString, line: UInt,
    wants: @escaping () -> Bool = { true }, _ block: @escaping (ResultsStep<Element>) -> Void
  ) {
    let store = results.store
    do throws(StoreError) { try store.checkContext("observe") } catch {
      start = .none(in: store)
      (token, resume) = (.ended(fileID, line), {})
      store.misuse(error)
      block(.error(error))
      return
    }
    store.bind(isolation)
    start = startsNow ? results.fixed : .none(in: store)
    if let mute = store.muteness() {
      (token, resume) = (.ended(fileID, line), {})
      block(.error(mute))
      return
    }
    let filter = Result { () throws(StoreError) -> ResultFilter? in
      guard let observed = results.state.observed() else { return nil }
      return try observed.including(names == nil ? also : [], in: observed.filter(ObservationOptions(properties: names)))
    }
    let stoppable = StoppableBlock(block)
    let block = { (step: ResultsStep<Element>) in stoppable.call(step) }
    var known: (rows: FixedResults<Element>, origin: Origin)? = startsNow ? (start, Origin(store)) : nil
    let remade = results.state.remaking
    let observer = store.add(results.state, filter) { content, store in
      switch content {
      case .error(let error): block(.error(error))
      case .total: break  // not of change sets
      case .update(let change):
        let now = Results<Element>(remade(store)).fixed
        block(.update(now, change.changes, ChangeDetails(Element._$name, change, own: store.origin)))
      case .initial:
        let now = Results<Element>(remade(store)).fixed
        guard let (old, origin) = known else { return block(.initial(now)) }
        known = nil
        let changes = origin.changes(of: old, to: now, in: store)
        if !changes.isEmpty { block(.update(now, changes, nil)) }
      }
    }
    observer.isListening = wants
    observer.follow = { move, store in
      let now = Results<Element>(remade(store))
      switch move {
      case .here:
        // What was to lead on from the start leads on from here.
        if known != nil { known = (now.fixed, Origin(store)) }
        block(.moved(now.fixed))
      case .rows(let keys): block(.moved(FixedResults(keys, of: now.state)))
      }
    }
    let (notifier, observation, flag) = (store.shared.results, observer.observation, observer.flag)
    let anchor = StoreAnchor(store)
    let made = NotificationToken(fileID: fileID, line: line, subject: observation) {
      flag.stop()
      if let observation { notifier.stop(observation) }
      StoreAnchor.release(anchor)
    }
    token = stoppable.end(with: made, of: store)
    resume = { [weak store] in store?.deliveryPlace().wake() }
  }
}

/// The moment at which results were looked at.
private struct Origin {
  let version: Version
  let wasInWrite: Bool

  init(_ store: Store) {
    version = store.version
    wasInWrite = store.isInWriteTransaction
  }

  /// What changed since, by comparing both states. What was only modified is known from the commits; where they cannot
  /// tell (rows of other types may lead here, the history is trimmed, or the look was at a write), every row counts.
  func changes<T: Model>(of old: FixedResults<T>, to new: FixedResults<T>, in store: Store) -> ChangeSet {
    if store.version == version, !wasInWrite { return ChangeSet() }
    let (before, after) = (old.allKeys, new.allKeys)
    guard Set(before).count == before.count, Set(after).count == after.count else {
      // A list that holds an object twice: its rows have no other names than their places.
      return ChangeSet(deletions: Array(before.indices), insertions: Array(after.indices))
    }
    let common = Set(before).intersection(after)
    return ChangeSet.between(before, after, modified: modified(T.self, in: store).map { common.intersection($0) } ?? common)
  }

  /// nil: any row may be.
  private func modified<T: Model>(_ type: T.Type, in store: Store) -> Set<Int64>? {
    if wasInWrite { return nil }
    let table = store.context(type).table
    let isAlone = !T._$schema.properties.contains { $0.isRelationship }
    var keys: Set<Int64> = []
    var touchedOthers = false
    do throws(StorageError) {
      try store.reading.history(after: version) { record in
        for change in record.tables {
          if change.table == table { keys.formUnion(change.modified.map(\.key.rawValue)) } else { touchedOthers = true }
        }
        return .proceed
      }
    } catch {
      return nil
    }
    return touchedOthers && !isAlone ? nil : keys
  }
}
