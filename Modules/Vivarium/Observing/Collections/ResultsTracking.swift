import ChangeTracker
import Notifications
import StorageInterface
import StoreValues

/// A change of results since they were last read.
package enum ResultsStep<Element: Model> {
  /// The first results. Only for an observer that did not read them before.
  case initial(FixedResults<Element>)
  /// The results after a commit that skipped the observer.
  case moved(FixedResults<Element>)
  /// The results and how they changed. Never empty.
  case update(FixedResults<Element>, ChangeSet, ChangeDetails?)
  /// The results cannot be kept any longer. The last step.
  case error(StoreError)
}

/// An observation that starts from the results at the moment it is made: the first step leads from there to the next state, so no
/// change is lost or reported twice between reading and observing.
///
/// Belongs to the store's context.
package final class ResultsTracking<Element: Model> {
  /// The results when this was made.
  package let start: FixedResults<Element>
  package let token: NotificationToken
  /// Called when the observer takes steps again. Retains nothing of the first results.
  package let resume: () -> Void

  /// - Parameter names: the properties whose modification counts, as with `observe(observingProperties:)`; nil: all.
  /// - Parameter also: if `names` is nil, paths that count besides all properties: over inverses, or longer than three links.
  /// - Parameter startsNow: whether the observer knows the present results; otherwise the first step is `.initial`.
  /// - Parameter wants: whether the observer takes a step now. While it does not, net changes are kept; call `resume()` when it
  ///   does again.
  package init(
    _ results: Results<Element>, names: [String]? = nil, also: [String] = [], startsNow: Bool = true,
    isolation: isolated (any Actor)?, fileID: StaticString, line: UInt,
    wants: @escaping () -> Bool = { true }, _ block: @escaping (ResultsStep<Element>) -> Void
  ) {
    let store = results.store
    do throws(StoreError) { try store.checkContext("observe") } catch {
      start = .none(in: store)
      (token, resume) = (.ended(fileID, line), {})
      store.misuse(error, at: SourcePlace(fileID: fileID, line: line))
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
        // Later changes start from here instead of from the first results.
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

/// The moment at which results were read.
private struct Origin {
  let version: Version
  let wasInWrite: Bool

  init(_ store: Store) {
    version = store.version
    wasInWrite = store.isInWriteTransaction
  }

  /// The changes since then, by comparing both states. Modifications come from the commit records. If these are not sufficient
  /// (rows of other types may be reached from here, the history is trimmed, or the results were read in a write), every row counts
  /// as modified.
  func changes<T: Model>(of old: FixedResults<T>, to new: FixedResults<T>, in store: Store) -> ChangeSet {
    if store.version == version, !wasInWrite { return ChangeSet() }
    let (before, after) = (old.allKeys, new.allKeys)
    guard Set(before).count == before.count, Set(after).count == after.count else {
      // A list that contains an object twice: its rows are identified only by position.
      return ChangeSet(deletions: Array(before.indices), insertions: Array(after.indices))
    }
    let common = Set(before).intersection(after)
    return ChangeSet.between(before, after, modified: modified(T.self, in: store).map { common.intersection($0) } ?? common)
  }

  /// nil if any row may be modified.
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
