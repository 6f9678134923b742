import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacroExpansions

/// A macro that generates nothing.
private enum Inert: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }
}

@Suite struct ExpansionTests {
  private func expectExpansion(
    _ source: String, _ expanded: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    assertMacroExpansion(
      source, expandedSource: expanded,
      macroSpecs: [
        "Model": MacroSpec(type: ModelExpansion.self, conformances: ["Model", "Observable"]),
        "_Persisted": MacroSpec(type: PersistedExpansion.self),
        "PrimaryKey": MacroSpec(type: Inert.self),
        "Inverse": MacroSpec(type: Inert.self),
      ],
      indentationWidth: .spaces(2)
    ) { failure in
      Issue.record("\(failure.message)", sourceLocation: sourceLocation)
    }
  }

  @Test func aModelGetsItsMembers() {
    expectExpansion(
      """
      @Model public final class Person {
        @PrimaryKey public var id: Int
        public var name = "x"
      }
      """,
      """
      public final class Person {
        public var id: Int {
          get {
            guard let raw = _$raw else {
              return Vivarium.required(_$values.id)
            }
            if raw.pointee.tracksReads {
              raw.pointee.noteRead(_$key, 0)
            }
            return withExtendedLifetime(self) {
              raw.pointee.load(_$key, 0)
            }
          }
          set {
            guard let raw = _$raw else {
              let values = _$values
              values._$observers?.willSet(0)
              values.id = newValue
              values._$observers?.didSet(0)
              return
            }
            withExtendedLifetime(self) {
              raw.pointee.store(_$key, 0, newValue)
            }
          }
        }
        public var name {
          get {
            guard let raw = _$raw else {
              return _$values.name
            }
            if raw.pointee.tracksReads {
              raw.pointee.noteRead(_$key, 1)
            }
            return withExtendedLifetime(self) {
              raw.pointee.load(_$key, 1)
            }
          }
          set {
            guard let raw = _$raw else {
              let values = _$values
              values._$observers?.willSet(1)
              values.name = newValue
              values._$observers?.didSet(1)
              return
            }
            withExtendedLifetime(self) {
              raw.pointee.store(_$key, 1, newValue)
            }
          }
        }

        final class _$Values {
          var _$observers: Vivarium.UnmanagedObservers?
          var id: Int?
          var name: String
          init() {
            self.id = nil
            self.name = "x"
          }
          init(id: Int, name: String) {
            self.id = id
            self.name = name
          }
        }

        @exclusivity(unchecked) public var _$raw: UnsafeMutablePointer<Vivarium.RawContext>?

        @exclusivity(unchecked) public var _$key: Int64 = 0

        @exclusivity(unchecked) public var _$owner: AnyObject?

        var _$values: _$Values {
          if let owner = _$owner {
            return unsafeDowncast(owner, to: _$Values.self)
          }
          let values = _$Values()
          _$owner = values
          return values
        }

        public var _$observers: Vivarium.UnmanagedObservers? {
          get {
            _$raw == nil ? _$values._$observers : nil
          }
          set {
            if _$raw == nil {
              _$values._$observers = newValue
            }
          }
        }

        public init(_$handle: Vivarium.ModelHandle) {
          _$raw = _$handle.raw
          _$key = _$handle.key
          _$owner = _$handle.owner
        }

        public init(_$blank: Void) {
        }

        public init(id: Int, name: String = "x") {
          _$owner = _$Values(id: id, name: name)
        }

        public static var _$name: String {
          "Person"
        }

        public static let _$schema = Vivarium.ObjectSchema(
          name: "Person",
          properties: [
            ._property("id", \\Person.id, isPrimaryKey: true),
            ._property("name", \\Person.name, default: "x")
          ],
          indexes: [])

        public static let _$keyPaths: [any PartialKeyPath<Person> & Sendable] = [\\Person.id, \\Person.name]

        public func _$fill(_ adoption: Vivarium.Adoption) throws(Vivarium.StoreError) {
          let values = _$values
          if let observers = values._$observers {
            adoption.observers = observers
          }
          try adoption.put(required: values.id, 0)
          adoption.put(values.name, 1)
        }
      }

      extension Person: nonisolated Model, nonisolated Observable {
      }
      """)
  }

  @Test func aPropertyGetsItsAccessors() {
    expectExpansion(
      """
      final class M {
        @_Persisted(3) var age: Int = 0
      }
      """,
      """
      final class M {
        var age: Int {
          get {
            guard let raw = _$raw else {
              return _$values.age
            }
            if raw.pointee.tracksReads {
              raw.pointee.noteRead(_$key, 3)
            }
            return withExtendedLifetime(self) {
              raw.pointee.load(_$key, 3)
            }
          }
          set {
            guard let raw = _$raw else {
              let values = _$values
              values._$observers?.willSet(3)
              values.age = newValue
              values._$observers?.didSet(3)
              return
            }
            withExtendedLifetime(self) {
              raw.pointee.store(_$key, 3, newValue)
            }
          }
        }
      }
      """)
  }

  @Test func aRequiredPropertyHasAZeroAndAnInverseNoSetter() {
    expectExpansion(
      """
      final class M {
        @_Persisted(0) var name: String
        @_Persisted(1) @Inverse(\\Person.dogs) var owners: LinkingObjects<Person>
      }
      """,
      """
      final class M {
        var name: String {
          get {
            guard let raw = _$raw else {
              return Vivarium.required(_$values.name)
            }
            if raw.pointee.tracksReads {
              raw.pointee.noteRead(_$key, 0)
            }
            return withExtendedLifetime(self) {
              raw.pointee.load(_$key, 0)
            }
          }
          set {
            guard let raw = _$raw else {
              let values = _$values
              values._$observers?.willSet(0)
              values.name = newValue
              values._$observers?.didSet(0)
              return
            }
            withExtendedLifetime(self) {
              raw.pointee.store(_$key, 0, newValue)
            }
          }
        }
        var owners: LinkingObjects<Person> {
          get {
            guard let raw = _$raw else {
              return Vivarium.unmanagedInverse()
            }
            if raw.pointee.tracksReads {
              raw.pointee.noteRead(_$key, 1)
            }
            return withExtendedLifetime(self) {
              raw.pointee.inverse(_$key, 1)
            }
          }
        }
      }
      """)
  }

  @Test func aDeleteRuleGoesIntoTheSchema() throws {
    let source: DeclSyntax = """
      final class Album {
        @Relationship(deleteRule: .cascade) var songs: LiveList<Song>
        var cover: Picture?
      }
      """
    let context = BasicMacroExpansionContext()
    let members = ModelExpansion.expansion(
      of: "@Model", providingMembersOf: try #require(source.as(ClassDeclSyntax.self)), conformingTo: [], in: context)
    let schema = members.map(\.description).first { $0.contains("_$schema") }
    #expect(schema?.contains(#"._property("songs", \Album.songs, deleteRule: .cascade)"#) == true)
    #expect(schema?.contains(#"._property("cover", \Album.cover)"#) == true && context.diagnostics.isEmpty)
  }

  @Test func indexesOfWordsGoIntoTheSchema() throws {
    let source: DeclSyntax = """
      @Model final class Note {
        @FullText @Indexed var title = ""
        @FullText var body: String?
      }
      """
    let context = BasicMacroExpansionContext()
    let members = ModelExpansion.expansion(
      of: "@Model", providingMembersOf: try #require(source.as(ClassDeclSyntax.self)), conformingTo: [], in: context)
    let schema = members.map(\.description).first { $0.contains("_$schema") }
    #expect(schema?.contains(#"._property("title", \Note.title, isIndexed: true, isFullText: true, default: "")"#) == true)
    #expect(schema?.contains(#"._property("body", \Note.body, isFullText: true)"#) == true && context.diagnostics.isEmpty)
  }

  @Test func derivedPropertiesAndEmbeddingGoIntoTheSchema() throws {
    let source: DeclSyntax = """
      @Model(.embedded) final class Order {
        var items: LiveList<Item>
        @Derived(\\Order.items.count) @Indexed var itemCount = 0
        @Derived(.sum, of: \\Item.price, over: \\Order.items) var total = 0.0
      }
      """
    let declaration = try #require(source.as(ClassDeclSyntax.self))
    let context = BasicMacroExpansionContext()
    let members = ModelExpansion.expansion(of: "@Model", providingMembersOf: declaration, conformingTo: [], in: context)
    let schema = try #require(members.map(\.description).first { $0.contains("_$schema") })
    #expect(schema.contains(#"\Order.itemCount, isIndexed: true, derivation: Vivarium.Derivation(.count, over: "items"))"#))
    #expect(schema.contains(#"derivation: Vivarium.Derivation(.sum, of: "price", over: "items"))"#))
    #expect(schema.contains("isEmbedded: true") && context.diagnostics.isEmpty)
    let total = try #require(declaration.memberBlock.members.last?.decl.as(VariableDeclSyntax.self))
    let accessors = PersistedExpansion.expansion(of: "@_Persisted(2)", providingAccessorsOf: total, in: context)
    #expect(accessors.count == 1 && accessors[0].description.contains("raw.pointee.derived(_$key, 2)"))
    // What follows from others is no parameter of the initialiser.
    #expect(!members.contains { $0.description.contains("init(itemCount") || $0.description.contains("init(total") })
  }

  @Test func defaultsThatAreNoLiteralsAreNamed() throws {
    let source: DeclSyntax = """
      public final class Guest {
        var a = 5
        var b: Int = 5 * 60
        var c = UUID()
        var d = -1.5
        var e: String? = nil
        var f = Level.low
        var g: Level = .low
        var h: LiveList<String> = ["x", "y"]
        var i: LiveList<Int> = [next()]
        var j: LiveMap<Int> = ["a": 1]
        var k = LiveSet<Int>()
        var l: LiveMap<Int> = [:]
        var m = "\\(Guest.prefix)x"
        var n: Office? = Office()
        @Derived(\\Guest.h.count) var o: Int = count()
        var p: Int
      }
      """
    let context = BasicMacroExpansionContext()
    let members = ModelExpansion.expansion(
      of: "@Model", providingMembersOf: try #require(source.as(ClassDeclSyntax.self)), conformingTo: [], in: context)
    let named = members.map(\.description).filter { $0.contains("_$computedDefaults") }
    #expect(named == ["public static let _$computedDefaults: [Int] = [1, 2, 5, 6, 8, 12, 13]"])
    #expect(context.diagnostics.isEmpty)
  }

  @Test func escapesAreWrittenWhereTheCompilerWantsThemAlone() throws {
    let source: DeclSyntax = """
      final class Vehicle {
        #Index<Vehicle>([\\.`class`, \\.age])
        var `class` = "van"
        var `inout` = 0
        var age = 0
      }
      """
    let context = BasicMacroExpansionContext()
    let members = ModelExpansion.expansion(
      of: "@Model", providingMembersOf: try #require(source.as(ClassDeclSyntax.self)), conformingTo: [], in: context)
    let all = members.map(\.description).joined(separator: "\n")
    #expect(all.contains("_$owner = _$Values(class: `class`, `inout`: `inout`, age: age)"))
    #expect(all.contains(#"IndexSchema(properties: ["class", "age"], isUnique: false)"#))
    #expect(all.contains(#"._property("class", \Vehicle.`class`, default: "van")"#) && context.diagnostics.isEmpty)
  }

  @Test func theCollectionsOfAValueModelHaveItsDefaults() throws {
    let source: DeclSyntax = """
      struct Shelf {
        var tags: [String] = ["oak"]
        var marks: Set<Int> = .init()
        var prices: [String: Double] = [:]
        var none: [Int] = []
      }
      """
    let context = BasicMacroExpansionContext()
    let members = ValueModelExpansion.expansion(
      of: "@ValueModel", providingMembersOf: try #require(source.as(StructDeclSyntax.self)), conformingTo: [], in: context)
    let live = try #require(members.first).description
    for line in [
      #"self.tags = Vivarium.LiveList<String>((["oak"]) as [String])"#, "self.marks = Vivarium.LiveSet<Int>((.init()) as Set<Int>)",
      "self.prices = LiveMap<Double>()", "self.none = LiveList<Int>()", "static let _$computedDefaults: [Int] = [0, 1]",
    ] {
      #expect(live.contains(line), "\(line) in \(live)")
    }
  }

  @Test func theDictionaryOfAValueModelIsReadFromItsMapAndPutThereAsOne() throws {
    let source: DeclSyntax = """
      struct Shelf {
        var tags: [String]
        var prices: [String: Double]
      }
      """
    let made = try ValueModelExpansion.expansion(
      of: "@ValueModel", attachedTo: try #require(source.as(StructDeclSyntax.self)), providingExtensionsOf: "Shelf" as TypeSyntax,
      conformingTo: ["ValueModel"], in: BasicMacroExpansionContext())
    let text = try #require(made.first).description
    for line in [
      "self.tags = Array(object.tags)", "self.prices = object.prices._$dictionary", "object.tags = Vivarium.LiveList(self.tags)",
      "object.prices = Vivarium.LiveMap(_$dictionary: self.prices)",
    ] {
      #expect(text.contains(line), "\(line) in \(text)")
    }
  }
}
