import Notifications

/// How something is observed: in which store, and how an observation begins. Made by what conforms to `StoreObservable`, for the
/// entries alone.
public struct ObservationSource<Change: StoreChange> {
  /// The store that is observed; nil for what is in none.
  let store: Store?
  /// The error that is reported of something in no store.
  let refusal: StoreError
  /// Throws where options name what is not there. In the store's context.
  let check: (ObservationOptions) throws(StoreError) -> Void
  /// Begins an observation, in the store's context, which is notified of all its errors.
  let start: (ObservationRequest, @escaping (Change) -> Void) -> NotificationToken
  /// What finds the same thing in another store of the file.
  let reference: () -> @Sendable (Store) -> ObservationSource<Change>

  /// Of something in a store.
  init(
    _ store: Store, check: @escaping (ObservationOptions) throws(StoreError) -> Void,
    start: @escaping (ObservationRequest, @escaping (Change) -> Void) -> NotificationToken,
    reference: @escaping () -> @Sendable (Store) -> ObservationSource<Change>
  ) {
    self.store = store
    refusal = .unmanagedCollection
    self.check = check
    self.start = start
    self.reference = reference
  }

  /// Of something in no store, which has nothing to report but that.
  init(unmanaged refusal: StoreError) {
    store = nil
    self.refusal = refusal
    check = { (_) throws(StoreError) in }
    start = { request, _ in request.ended }
    reference = { { _ in ObservationSource(unmanaged: refusal) } }
  }

  /// The same, with each change converted.
  func map<Other: StoreChange>(_ convert: @escaping @Sendable (Change) -> Other) -> ObservationSource<Other> {
    guard let store else { return ObservationSource<Other>(unmanaged: refusal) }
    return ObservationSource<Other>(store, check: check) { [start] request, block in
      start(request) { block(convert($0)) }
    } reference: { [reference] in
      let find = reference()
      return { find($0).map(convert) }
    }
  }

  /// Begins an observation in the context of the caller, which is the store's.
  func begin(
    _ request: ObservationRequest, _ isolation: isolated (any Actor)?, _ block: @escaping (Change) -> Void
  ) -> NotificationToken {
    if let store {
      if let refused = store.tokenElsewhere(request.fileID, request.line) { return refused }
      store.bind(isolation)
      if let mute = store.muteness() {
        block(.error(mute))
        return request.ended
      }
    }
    return beginAnywhere(request, block)
  }

  /// The same where the store has no context yet, and gets one.
  func beginAnywhere(_ request: ObservationRequest, _ block: @escaping (Change) -> Void) -> NotificationToken {
    guard let store else {
      block(.error(refusal))
      return request.ended
    }
    let block = StoppableBlock(block)
    return block.end(with: start(request) { block.call($0) }, of: store)
  }
}

/// What an observer asks for, and where in the program.
struct ObservationRequest: Sendable {
  var options: ObservationOptions
  let fileID: StaticString
  let line: UInt

  /// The token of an observation that was never one: its block was given the reason.
  var ended: NotificationToken { .ended(fileID, line) }
}

extension NotificationToken {
  /// The token of an observation that was never one: its block was given the reason.
  static func ended(_ fileID: StaticString, _ line: UInt) -> NotificationToken {
    let token = NotificationToken(fileID: fileID, line: line) {}
    token.stop()
    return token
  }
}

extension StoreError {
  /// A collection that is in no store was observed.
  static let unmanagedCollection = StoreError(
    .wrongStore, "A collection that is in no store cannot be observed.", remedy: "Add its object to a store first.")
}
