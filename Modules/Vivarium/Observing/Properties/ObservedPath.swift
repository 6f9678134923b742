import StorageInterface
import StoreValues

/// What an observer follows from an object: properties over to-one links, or anything that a key path reads.
enum ObservedPath<Root: Model> {
  /// By their ordinals in the models on the way.
  case properties([Int])
  case reads(PartialKeyPath<Root>)

  /// The value at the end; nil if it or a link on the way is null.
  func value(of root: Root) -> Any? {
    switch self {
    case .reads(let path): return Value.unwrapped(root[keyPath: path])
    case .properties(let ordinals):
      var places: [PathPlace] = []
      return walk(root, ordinals, &places)
    }
  }

  /// The value at the end, with the properties that were read.
  func follow(_ root: Root) -> FollowedPath {
    root.store?.pathReadCount += 1
    switch self {
    case .properties(let ordinals):
      var places: [PathPlace] = []
      let value = walk(root, ordinals, &places)
      return FollowedPath(value: ObservedValue(value), places: places, hooks: (value as? any HookedCollection)?.hooks)
    case .reads(let path):
      guard let store = root.store else { return FollowedPath(value: .nothing, places: [], hooks: nil) }
      let (value, places) = store.tracing { ObservedValue(root[keyPath: path]) }
      return FollowedPath(value: value, places: places, hooks: nil)
    }
  }

  private func walk(_ root: Root, _ ordinals: [Int], _ places: inout [PathPlace]) -> Any? {
    var value: Any? = root
    for ordinal in ordinals {
      guard let object = value as? any Model else { return nil }
      places.append(PathPlace(object, ordinal))
      value = object.value(at: ordinal)
    }
    return value
  }
}

/// The result of following a path.
struct FollowedPath {
  let value: ObservedValue
  let places: [PathPlace]
  /// The hooks of the unmanaged collection at its end.
  let hooks: EditHooks?
}

/// The object at the start of an observed path, managed or not. Confined to its context.
final class ObservedRoot<Root: Model> {
  private struct Home {
    /// Retains the observer, which retains this.
    unowned let context: ModelContext
    let key: Int64
  }

  private weak var unmanaged: Root?
  private var home: Home?

  init(_ object: Root) {
    // A managed object is found again by key, because retaining it would make the store retain itself.
    if let context = object.context { home = Home(context: context, key: object._$key) } else { unmanaged = object }
  }

  /// nil if the object was deleted or released.
  var object: Root? {
    if let unmanaged, let context = unmanaged.context {
      home = Home(context: context, key: unmanaged._$key)
      self.unmanaged = nil
    }
    guard let home else { return unmanaged }
    return home.context.lives(home.key) ? home.context.store.live(home.key) : nil
  }
}

// MARK: - Names

extension Model {
  /// A property's value by its ordinal; nil for null.
  fileprivate func value(at ordinal: Int) -> Any? { Value.unwrapped(self[keyPath: Self._$keyPaths[ordinal]]) }

  /// The ordinals of the properties along a path of names.
  static func ordinals(ofPath path: String) throws(StoreError) -> [Int] {
    var ordinals: [Int] = []
    var type: (any Model.Type)? = Self.self
    for name in path.split(separator: ".", omittingEmptySubsequences: false) {
      guard let model = type else {
        throw StoreError(
          .notToOne, "'\(path)' leads over what is no link to one object.",
          remedy: "Observe the collection, or the object with 'observingProperties:'.", details: ["path": path])
      }
      guard let ordinal = model._$schema.properties.firstIndex(where: { $0.name == name }) else {
        throw .unknownProperty(String(name), of: model._$name)
      }
      ordinals.append(ordinal)
      type = model.target(of: ordinal)
    }
    return ordinals
  }

  /// The target type of a to-one link or to-one inverse.
  private static func target(of ordinal: Int) -> (any Model.Type)? {
    (Swift.type(of: _$keyPaths[ordinal]).valueType as? any ToOneEnd.Type)?.target
  }
}
