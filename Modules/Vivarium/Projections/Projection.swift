import StoreValues

/// A view of an object that shows some of its own and linked properties, under its own names.
///
/// ```swift
/// final class PersonCard: Projection<Person> {
///   @Projected(\Person.name) var title
///   @Projected(\Person.best, \Dog.name) var bestName          // String?
///   @Projected(\Person.dogs, \Dog.name) var dogNames          // [String]
/// }
/// let cards = store.objects(Person.self).sorted(by: \.name).projected(to: PersonCard.self)
/// token = cards.observe { change in … }                   // hears of names and dogs alone
/// ```
///
/// Live: it holds only the object, and reads through it. Confined like the object.
open class Projection<Root: Model>: ModelProjection {
  /// The object that is shown.
  public let object: Root

  public required init(_ object: Root) { self.object = object }

  /// Whether the object is no longer in its store.
  public var isInvalidated: Bool { object.isInvalidated }
}

/// A view of objects of a model; `Projection` conforms.
public protocol ModelProjection: AnyObject, StoreObservable where ObservationChange == ObjectChange {
  /// The model whose objects are shown.
  associatedtype Root: Model
  /// The object that is shown.
  var object: Root { get }
  /// Creates a view of an object. Reads nothing.
  init(_ object: Root)
}

/// A property of a `Projection`: one of its object's, or one behind a link or a collection of the object.
///
/// Can be set if it is a settable property of the object itself; setting another is reported by `MisusePolicy`.
@propertyWrapper public struct Projected<Root: Model, Value> {
  /// The path that is read, by stored names; nil for a computed property.
  let names: [String?]
  private let read: (Root) -> Value
  private let write: ReferenceWritableKeyPath<Root, Value>?

  /// A property of the object.
  public init(_ path: KeyPath<Root, Value>) {
    names = [Root.propertyName(of: path)]
    read = { $0[keyPath: path] }
    write = path as? ReferenceWritableKeyPath<Root, Value>
  }

  /// A property behind a link; nil if the link is nil.
  public init<Target: Model, V>(_ link: KeyPath<Root, Target?>, _ path: KeyPath<Target, V>) where Value == V? {
    self.init([Root.propertyName(of: link), Target.propertyName(of: path)]) { $0[keyPath: link].map { $0[keyPath: path] } }
  }

  /// An optional property behind a link; nil if the link or the property is nil.
  public init<Target: Model, V>(_ link: KeyPath<Root, Target?>, _ path: KeyPath<Target, V?>) where Value == V? {
    self.init([Root.propertyName(of: link), Target.propertyName(of: path)]) { $0[keyPath: link].flatMap { $0[keyPath: path] } }
  }

  /// A property of every object of a list or a set, in their order.
  public init<C: RelationshipProperty & Sequence, V>(
    _ collection: KeyPath<Root, C>, _ path: KeyPath<C.Target, V>
  ) where C.Element == C.Target, Value == [V] {
    self.init([Root.propertyName(of: collection), C.Target.propertyName(of: path)]) {
      $0[keyPath: collection].map { $0[keyPath: path] }
    }
  }

  /// A property of every object that links to this one.
  public init<C: InverseProperty & Sequence, V>(
    _ inverse: KeyPath<Root, C>, _ path: KeyPath<C.Origin, V>
  ) where C.Element == C.Origin, Value == [V] {
    self.init([Root.propertyName(of: inverse), C.Origin.propertyName(of: path)]) {
      $0[keyPath: inverse].map { $0[keyPath: path] }
    }
  }

  private init(_ names: [String?], _ read: @escaping (Root) -> Value) {
    self.names = names
    self.read = read
    write = nil
  }

  @available(*, unavailable, message: "'@Projected' belongs into a 'Projection'")
  public var wrappedValue: Value {
    // Cannot be called: it is unavailable.
    get { fatalError("'@Projected' belongs into a 'Projection'") }
    nonmutating set {}
  }

  /// Called by the property wrapper: reads or sets through the object that is shown.
  public static subscript<Host: Projection<Root>>(
    _enclosingInstance host: Host, wrapped wrapped: ReferenceWritableKeyPath<Host, Value>,
    storage storage: ReferenceWritableKeyPath<Host, Self>
  ) -> Value {
    get { host[keyPath: storage].read(host.object) }
    set {
      let projected = host[keyPath: storage]
      if let path = projected.write {
        host.object[keyPath: path] = newValue
      } else {
        host.object.store?.refuse(.projectedAlone(projected.names, of: Root._$name))
      }
    }
  }
}

/// A type-erased projected property.
protocol AnyProjected {
  var names: [String?] { get }
  func value(of object: Any) -> Any?
}

extension Projected: AnyProjected {
  func value(of object: Any) -> Any? { (object as? Root).map { read($0) } }
}

extension ModelProjection {
  /// The projected properties by their names in the projection, in order.
  var projected: [(name: String, property: any AnyProjected)] {
    var found: [(name: String, property: any AnyProjected)] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let level = mirror {
      let own = level.children.compactMap { child -> (name: String, property: any AnyProjected)? in
        guard let label = child.label, let property = child.value as? any AnyProjected else { return nil }
        return (String(label.drop { $0 == "_" }), property)
      }
      found = own + found
      mirror = level.superclassMirror
    }
    return found
  }

  /// The paths that observers of some projected properties must watch, by the model's names; nil: of all. Throws `.unknownProperty`
  /// for a property that is computed, or not projected.
  func paths(of names: [String]?) throws(StoreError) -> [String] {
    for name in names ?? [] where !projected.contains(where: { $0.name == name }) { throw .unknownKeyPath(name, of: "\(Self.self)") }
    var paths: [String] = []
    for (name, property) in projected where names?.contains(name) ?? true {
      let path = property.names.compactMap { $0 }
      guard path.count == property.names.count else { throw .unknownKeyPath(name, of: Root._$name) }
      paths.append(path.joined(separator: "."))
    }
    return paths
  }
}

extension StoreError {
  fileprivate static func projectedAlone(_ names: [String?], of type: String) -> StoreError {
    let path = names.map { $0 ?? "?" }.joined(separator: ".")
    return StoreError(
      .readOnly, "'\(path)' is shown by a projection of '\(type)' and cannot be set through it.",
      remedy: "Set it at the object that has it.", details: ["type": type, "path": path])
  }
}
