import Notifications

/// How a value is observed: its store, and how an observation begins. Made by the types that conform to `StoreObservable`, for the
/// `observe` functions only.
public struct ObservationSource<Change: StoreChange> {
  /// The observed store; nil for an unmanaged value.
  let store: Store?
  /// The error reported for an unmanaged value.
  let refusal: StoreError
  /// Throws if the options name a property that does not exist. Called on the store's context.
  let check: (ObservationOptions) throws(StoreError) -> Void
  /// Begins an observation on the store's context. Errors are reported to the observation.
  let start: (ObservationRequest, @escaping (Change) -> Void) -> NotificationToken
  /// Makes a function that finds the same value in another store of the file.
  let reference: () -> @Sendable (Store) -> ObservationSource<Change>

  /// Creates the source of a value in a store.
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

  /// Creates the source of an unmanaged value, which reports only that error.
  init(unmanaged refusal: StoreError) {
    store = nil
    self.refusal = refusal
    check = { (_) throws(StoreError) in }
    start = { request, _ in request.ended }
    reference = { { _ in ObservationSource(unmanaged: refusal) } }
  }

  /// The same source, with each change converted.
  func map<Other: StoreChange>(_ convert: @escaping @Sendable (Change) -> Other) -> ObservationSource<Other> {
    guard let store else { return ObservationSource<Other>(unmanaged: refusal) }
    return ObservationSource<Other>(store, check: check) { [start] request, block in
      start(request) { block(convert($0)) }
    } reference: { [reference] in
      let find = reference()
      return { find($0).map(convert) }
    }
  }

  /// Begins an observation in the caller's context, which is the store's.
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

  /// Begins an observation in a store that has no context yet but will get one.
  func beginAnywhere(_ request: ObservationRequest, _ block: @escaping (Change) -> Void) -> NotificationToken {
    guard let store else {
      block(.error(refusal))
      return request.ended
    }
    let block = StoppableBlock(block)
    return block.end(with: start(request) { block.call($0) }, of: store)
  }
}

/// An observer's options, and its place in the program.
struct ObservationRequest: Sendable {
  var options: ObservationOptions
  let fileID: StaticString
  let line: UInt

  /// The token of an observation that never began: its block received the reason.
  var ended: NotificationToken { .ended(fileID, line) }
}

extension NotificationToken {
  /// The token of an observation that never began: its block received the reason.
  static func ended(_ fileID: StaticString, _ line: UInt) -> NotificationToken {
    let token = NotificationToken(fileID: fileID, line: line) {}
    token.stop()
    return token
  }
}

extension StoreError {
  /// The error for observing an unmanaged collection.
  static let unmanagedCollection = StoreError(
    .wrongStore, "A collection that is in no store cannot be observed.", remedy: "Add its object to a store first.")
}
