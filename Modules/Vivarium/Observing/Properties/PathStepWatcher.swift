/// One property of one object that a path reads.
struct PathPlace {
  enum Owner {
    case managed(ModelContext, Int64)
    case unmanaged(any Model)
  }

  /// Identifies the place without retaining the object.
  struct ID: Hashable {
    let owner: ObjectIdentifier
    let key: Int64
    let ordinal: Int
  }

  let owner: Owner
  let id: ID

  init(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    owner = .managed(context, key)
    id = ID(owner: ObjectIdentifier(context), key: key, ordinal: ordinal)
  }

  init(_ object: any Model, _ ordinal: Int) {
    let context = object.context
    owner = context.map { .managed($0, object._$key) } ?? .unmanaged(object)
    id = ID(
      owner: context.map { ObjectIdentifier($0) } ?? ObjectIdentifier(object), key: object._$key, ordinal: ordinal)
  }
}

/// An observed path, registered with one property of one object, which retains this.
final class PathStepWatcher: PropertyWatcher {
  let ordinal: Int?
  private let path: PathObserver
  /// The context that retains this; nil if the object is unmanaged.
  private unowned let context: ModelContext?
  private let key: Int64
  private var isLeft = false
  /// The hooks of the unmanaged collection at the end of the path.
  private var hooks: EditHooks?

  init(_ path: PathObserver, _ place: PathPlace) {
    self.path = path
    ordinal = place.id.ordinal
    switch place.owner {
    case .managed(let context, let key):
      (self.context, self.key) = (context, key)
      context.propertyObservers[key, default: []].append(self)
      context.store.observing.hasProperties = true
      path.end.enter(context.store)
    case .unmanaged(let object):
      (context, key) = (nil, 0)
      object.addUnmanaged(self)
    }
  }

  var isActive: Bool { !isLeft && path.end.isActive }

  var isDerived: Bool {
    guard let context, let ordinal else { return false }
    return context.properties[ordinal].isDerived
  }

  func willChange() { if isActive { path.willChange() } }

  func check() {
    guard isActive else { return }
    path.check(pass: context.flatMap { $0.store.observing.comparison.current })
  }

  func enter(_ context: ModelContext, _ key: Int64) { path.enter() }

  /// Follows the edits of the unmanaged collection at the end of the path.
  func follow(_ found: EditHooks?) {
    if found === hooks { return }
    hooks?.remove(self)
    found?.add(self)
    hooks = found
  }

  /// Unregisters, because the path no longer reads this property.
  func leave() {
    isLeft = true
    follow(nil)
    guard let context, let left = context.propertyObservers[key]?.filter({ $0 !== self }) else { return }
    context.propertyObservers[key] = left.isEmpty ? nil : left
  }
}
