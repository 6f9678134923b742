#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import StoreValues

/// Identifies an object on every replica. Objects of one class with the same primary key are one object, whoever creates them.
public struct ObjectIdentity: Hashable, Sendable {
  /// The name of the object's class.
  public let className: Name
  /// Distinguishes the object from others of its class.
  public let key: Key

  /// The value of a primary key, or its substitute in a class without one.
  public enum Key: Hashable, Sendable {
    case int(Int64)
    case string(Name)
    case uuid(UUID)
    case objectId(ObjectId)
    /// For a class without a primary key: the replica that created the object, and the object key in the creator's file.
    case created(ReplicaID, ObjectKey)
  }

  /// The identity of the object with this key. The schema, not this initializer, decides whether keys of this kind fit the class.
  public init(_ className: Name, _ key: Key) {
    self.className = className
    self.key = key
  }

  /// The identity for the value of a primary key; nil if the value has a type that no primary key can have.
  public init?(_ className: Name, primaryKey: Value) {
    switch primaryKey {
    case .int(let x): self.init(className, .int(x))
    case .string(let x): self.init(className, .string(Name(x)))
    case .uuid(let x): self.init(className, .uuid(x))
    case .objectId(let x): self.init(className, .objectId(x))
    default: return nil
    }
  }

  /// The value of the primary key; nil for an object without one.
  public var primaryKey: Value? {
    switch key {
    case .int(let x): .int(x)
    case .string(let x): .string(x.text)
    case .uuid(let x): .uuid(x)
    case .objectId(let x): .objectId(x)
    case .created: nil
    }
  }
}

extension ObjectIdentity: Comparable {
  /// By class name, then by key.
  public static func < (a: Self, b: Self) -> Bool { a.className != b.className ? a.className < b.className : a.key < b.key }
}

extension ObjectIdentity.Key: Comparable {
  /// By kind in the order of the cases, then by value: strings by bytes, created objects by replica and key.
  public static func < (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.int(let x), .int(let y)): x < y
    case (.string(let x), .string(let y)): x < y
    case (.uuid(let x), .uuid(let y)): x < y
    case (.objectId(let x), .objectId(let y)): x < y
    case (.created(let r, let x), .created(let s, let y)): (r, x) < (s, y)
    default: a.rank < b.rank
    }
  }

  private var rank: Int {
    switch self {
    case .int: 0
    case .string: 1
    case .uuid: 2
    case .objectId: 3
    case .created: 4
    }
  }
}

extension ObjectIdentity: CustomStringConvertible {
  public var description: String {
    switch key {
    case .created(let replica, let key): "\(className)\(key)@\(replica)"
    default: "\(className)(\(primaryKey ?? .null))"
    }
  }
}

/// The target of a link: one incarnation of an object. It holds the object's epoch as the author of the link saw it, so the link stays
/// dead if an object with the same primary key is created after a delete.
public struct LinkTarget: Hashable, Sendable {
  /// The object, whatever the incarnation.
  public let object: ObjectIdentity
  /// The epoch of the incarnation; `.zero` if the author knew of no delete, or its epoch had been forgotten by then.
  public let epoch: Stamp

  /// A link to the incarnation of an object with the given epoch.
  public init(_ object: ObjectIdentity, epoch: Stamp = .zero) {
    self.object = object
    self.epoch = epoch
  }

  /// A link that leads nowhere for good. Its epoch is later than any that an incarnation can have.
  var severed: LinkTarget { LinkTarget(object, epoch: LinkTarget.never) }

  /// Whether a purge has severed the link. No upload can name such an epoch: it is ahead of every one that is known.
  package var isSevered: Bool { epoch == LinkTarget.never }

  private static let never = Stamp(time: .max, replica: ReplicaID(.max))
}
