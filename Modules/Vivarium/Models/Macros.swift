/// Makes a plain final class a live object: every stored `var` is kept in the store.
///
/// ```swift
/// @Model final class Person {
///   @PrimaryKey var id: UUID = UUID()
///   var name = ""
///   @Indexed var age = 0
///   var best: Dog?
///   var dogs: LiveList<Dog>
/// }
/// ```
///
/// Generates the schema, the accessors, the conformance to `Model` and, in a class without initialisers, a memberwise one. A
/// property that cannot be stored is a compile error. Computed and static properties are left alone.
// The extension adds no names. But the compiler (6.3) expands it in time only if it looks up a name that the extension may add.
// Without this, in a whole-module build, a file compiled before the models' and reading a property through a link found no
// conformance.
@attached(
  member,
  names: named(_$Values), named(_$raw), named(_$owner), named(_$key), named(_$values), named(_$observers),
  named(init), named(_$name), named(_$schema), named(_$keyPaths), named(_$fill),
  named(_$computedDefaults))
@attached(memberAttribute)
@attached(extension, conformances: Model, Observable, names: arbitrary)
public macro Model() = #externalMacro(module: "VivariumMacros", type: "ModelMacro")

/// Makes a plain final class a model of embedded objects: with `@Model(.embedded)` every object belongs to exactly one other
/// object, alone or in a list or a map, and is deleted with it. It has no primary key and is not added by itself.
@attached(
  member,
  names: named(_$Values), named(_$raw), named(_$owner), named(_$key), named(_$values), named(_$observers),
  named(init), named(_$name), named(_$schema), named(_$keyPaths), named(_$fill),
  named(_$computedDefaults))
@attached(memberAttribute)
@attached(extension, conformances: Model, Observable, names: arbitrary)
public macro Model(_ kind: ModelKind) = #externalMacro(module: "VivariumMacros", type: "ModelMacro")

/// Makes a plain struct a model: reads, queries and change reports deliver values, copied out of the store.
///
/// ```swift
/// @ValueModel struct Reading {
///   @PrimaryKey var id: Int
///   @Indexed var sensor = ""
///   var celsius = 0.0
///   var tags: [String] = []
/// }
/// let store = try Store(.lmdb(url, models: Reading.self, Person.self))
/// try store.write { try store.add(Reading(id: 1, sensor: "attic", celsius: 21.5)) }
/// let warm = store.values(Reading.self).where { $0.celsius > 20 }
/// ```
///
/// Generates a live class, `Reading.Live`, with the same properties, and the conformance to `ValueModel`. Every stored `var` is
/// kept, with the types that a `@Model` supports; an Array, a Set or a Dictionary with String keys of these is kept as a list, set
/// or map. A value has no links.
@attached(member, names: named(Live))
@attached(extension, conformances: ValueModel, names: named(init), named(_$assign))
public macro ValueModel() = #externalMacro(module: "VivariumMacros", type: "ValueModelMacro")

/// The kind of a model's objects.
public enum ModelKind: Sendable {
  /// Independent objects.
  case standalone
  /// Parts of other objects.
  case embedded
}

/// The accessors of one property; added by `@Model`.
@attached(accessor)
public macro _Persisted(_ ordinal: Int) = #externalMacro(module: "VivariumMacros", type: "PersistedMacro")

/// Marks the primary key, which identifies an object within its type: a String, a UUID or an integer, unique, fixed once the object
/// is added.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps an index over the property, so that conditions on it do not read every object.
@attached(peer)
public macro Indexed() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps an index over the property and rejects a second object with the same value.
@attached(peer)
public macro Unique() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps a full-text index of a String, so that `$0.body.matches(text: "live dat*")` does not read every object:
/// `@FullText var body = ""`. Queries find the same without it. Every write splits the strings that it changes into words; the
/// index has one entry per distinct word of each object. SQLite files have no such index; there a search reads every object.
@attached(peer)
public macro FullText() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// The other end of a relationship: `@Inverse(\Person.dogs) var owners: LinkingObjects<Person>`, or to one,
/// `@Inverse(\Person.best) var bestOf: Person?`.
@attached(peer)
public macro Inverse<Origin: AnyObject, Value>(_ origin: KeyPath<Origin, Value>) =
  #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Determines what happens to the objects of a link or a collection when the object that has it is deleted:
/// `@Relationship(deleteRule: .cascade) var items: LiveList<Item>`.
///
/// `.nullify`, the default, keeps them. `.cascade` owns them: they are deleted with their last owner, or at the commit after the
/// last owner unlinked them. `.deny` rejects the delete while there are any.
@attached(peer)
public macro Relationship(deleteRule: DeleteRule) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// A stored property derived from a collection or an inverse of the same model, here its count:
/// `@Derived(\Person.dogs.count) var dogCount = 0`.
///
/// Every write updates it, so that it can be sorted by, indexed and observed like any other property. It cannot be set. In an
/// unmanaged object it has the value after `=`.
@attached(peer)
public macro Derived<Root: AnyObject, Value>(_ count: KeyPath<Root, Value>) =
  #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// A stored property derived from a number property of the objects in a collection or an inverse of the same model:
/// `@Derived(.sum, of: \Item.price, over: \Order.items) var total = 0.0`. A sum is an Int or a Double; the least, the greatest and
/// the average are optional.
@attached(peer)
public macro Derived<Root: AnyObject, Value, Target: AnyObject, Number>(
  _ function: Derivation.Function, of number: KeyPath<Target, Number>, over relationship: KeyPath<Root, Value>
) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// The property's name in older files: `@Renamed(from: "first") var name = ""`. Its values are kept, without a schema version or a
/// migration. Keep it as long as such files may exist; a file with the new name is not changed.
@attached(peer)
public macro Renamed(from name: String) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps a property out of the store: a plain stored property of the instance.
@attached(peer)
public macro Transient() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Indexes over several properties in the given order: `#Index<Person>([\.name, \.age])`, inside the class.
@freestanding(declaration)
public macro Index<T: AnyObject>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// Unique indexes over several properties: no two objects have the same values in all of them.
@freestanding(declaration)
public macro Unique<T: AnyObject>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// Indexes over several properties of a value model.
@freestanding(declaration)
public macro Index<T: ValueModel>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// Unique indexes over several properties of a value model.
@freestanding(declaration)
public macro Unique<T: ValueModel>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")
