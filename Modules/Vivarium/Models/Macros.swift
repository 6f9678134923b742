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
/// Writes the schema, the accessors, the conformance to `Model` and, in a class without initialisers, a memberwise
/// one. What cannot be stored is an error at the property. Computed and static properties are left alone.
// The extension adds no names. But the compiler (6.3) makes it in time only when it looks for a name that it may add: a file
// that reads a property through a link, and comes before the models' in a module that is compiled whole, found no conformance.
@attached(
  member,
  names: named(_$Values), named(_$raw), named(_$owner), named(_$key), named(_$values), named(_$observers),
  named(init), named(_$name), named(_$schema), named(_$keyPaths), named(_$fill))
@attached(memberAttribute)
@attached(extension, conformances: Model, Observable, names: arbitrary)
public macro Model() = #externalMacro(module: "VivariumMacros", type: "ModelMacro")

/// Makes a plain final class the model of parts: with `@Model(.embedded)` every object belongs to exactly one other, alone or
/// in a list or a map, and is deleted with it. It has no primary key and is not added by itself.
@attached(
  member,
  names: named(_$Values), named(_$raw), named(_$owner), named(_$key), named(_$values), named(_$observers),
  named(init), named(_$name), named(_$schema), named(_$keyPaths), named(_$fill))
@attached(memberAttribute)
@attached(extension, conformances: Model, Observable, names: arbitrary)
public macro Model(_ kind: ModelKind) = #externalMacro(module: "VivariumMacros", type: "ModelMacro")

/// Makes a plain struct a model: what is read, queried and reported of it are values, copied out of the store.
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
/// Writes a live class, `Reading.Live`, with the same properties, and the conformance to `ValueModel`. Every stored `var`
/// is kept, by the types that a `@Model` keeps; an Array, a Set or a Dictionary with String keys of these is kept as a
/// list, set or map. A value has no links.
@attached(member, names: named(Live))
@attached(extension, conformances: ValueModel, names: named(init), named(_$assign))
public macro ValueModel() = #externalMacro(module: "VivariumMacros", type: "ValueModelMacro")

/// What the objects of a model are.
public enum ModelKind: Sendable {
  /// Objects of their own.
  case standalone
  /// Parts of other objects.
  case embedded
}

/// The accessors of one property; `@Model` puts it there.
@attached(accessor)
public macro _Persisted(_ ordinal: Int) = #externalMacro(module: "VivariumMacros", type: "PersistedMacro")

/// The property that identifies an object among its type: a String, a UUID or an integer, unique, fixed once the
/// object is added.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps an index over the property, so that conditions on it do not read every object.
@attached(peer)
public macro Indexed() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps an index over the property and refuses a second object with the same value.
@attached(peer)
public macro Unique() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps an index of the words of a text, a String, so that `$0.body.matches(text: "live dat*")` does not read every object:
/// `@FullText var body = ""`. What it finds is the same without it. Every write cuts the texts that it changes into words; an
/// entry is kept for each different word of each object. SQLite files have no such index, and are searched by reading.
@attached(peer)
public macro FullText() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// The other end of a relationship: `@Inverse(\Person.dogs) var owners: LinkingObjects<Person>`, or to one,
/// `@Inverse(\Person.best) var bestOf: Person?`.
@attached(peer)
public macro Inverse<Origin: AnyObject, Value>(_ origin: KeyPath<Origin, Value>) =
  #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// What becomes of the objects that a link or a collection points to when the object that has it is deleted:
/// `@Relationship(deleteRule: .cascade) var items: LiveList<Item>`.
///
/// `.nullify`, the default, leaves them. `.cascade` owns them: they go with their last owner, and when the last owner lets
/// go of them, at the commit. `.deny` refuses the delete while there are any.
@attached(peer)
public macro Relationship(deleteRule: DeleteRule) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// A stored property that follows from a collection or an inverse of the same model, here its count:
/// `@Derived(\Person.dogs.count) var dogCount = 0`.
///
/// Every write keeps it right, so that it can be sorted by, indexed and observed like any other. It cannot be set. In an
/// unmanaged object it is what is written after `=`.
@attached(peer)
public macro Derived<Root: AnyObject, Value>(_ count: KeyPath<Root, Value>) =
  #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// A stored property that follows from a number of the objects in a collection or an inverse of the same model:
/// `@Derived(.sum, of: \Item.price, over: \Order.items) var total = 0.0`. A sum is an Int or a Double; the least, the
/// greatest and the average are optional.
@attached(peer)
public macro Derived<Root: AnyObject, Value, Target: AnyObject, Number>(
  _ function: Derivation.Function, of number: KeyPath<Target, Number>, over relationship: KeyPath<Root, Value>
) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// The name that the property has in older files: `@Renamed(from: "first") var name = ""`. Its values stay; no version and no migration is
/// needed. It may stay there as long as there may be such files; a file that has the new name is left as it is.
@attached(peer)
public macro Renamed(from name: String) = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Keeps a property out of the store: a plain stored property of the instance.
@attached(peer)
public macro Transient() = #externalMacro(module: "VivariumMacros", type: "MarkerMacro")

/// Indexes over several properties in that order: `#Index<Person>([\.name, \.age])`, inside the class.
@freestanding(declaration)
public macro Index<T: AnyObject>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// Unique indexes over several properties: no two objects agree in all of them.
@freestanding(declaration)
public macro Unique<T: AnyObject>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// The same for values.
@freestanding(declaration)
public macro Index<T: ValueModel>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")

/// The same for values.
@freestanding(declaration)
public macro Unique<T: ValueModel>(_ lists: [PartialKeyPath<T>]...) =
  #externalMacro(module: "VivariumMacros", type: "IndexListMacro")
