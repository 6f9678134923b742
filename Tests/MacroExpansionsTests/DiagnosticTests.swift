import Testing

@Suite struct DiagnosticTests {
  @Test func constantsBecomeVariables() {
    expectComplaint(
      "let fixed = 3", "a persisted property must be a 'var'", fixIt: "make it a 'var'", fixed: "var fixed = 3")
  }

  @Test func lazyAndWeakPropertiesAreKeptOut() {
    let transient = "keep it out of the store with '@Transient'"
    expectComplaint(
      "lazy var slow = 4", "a 'lazy' property cannot be persisted", fixIt: transient,
      fixed: "@Transient lazy var slow = 4")
    expectComplaint(
      "weak var dog: Dog?",
      "a persisted link is neither 'weak' nor 'unowned': it never keeps its target alive", fixIt: transient,
      fixed: "@Transient weak var dog: Dog?")
    expectComplaint(
      "var map: [Int: Int] = [:]", "'[Int: Int]' cannot be persisted", at: "[Int: Int] = [:]",
      fixIt: transient, fixed: "@Transient var map: [Int: Int] = [:]")
  }

  @Test func observersAreRemoved() {
    expectComplaint(
      "var watched = 1 { didSet { print(1) } }",
      "'didSet' and 'willSet' do not run for changes made elsewhere, so a persisted property cannot have them",
      at: "{ didSet { print(1) } }", fixIt: "remove the observer", fixed: "var watched = 1")
  }

  @Test func swiftCollectionsAreReplaced() {
    for (type, better) in [
      ("[String]", "LiveList<String>"), ("[Dog]?", "LiveList<Dog>"), ("Array<Int>", "LiveList<Int>"),
      ("Set<Int>", "LiveSet<Int>"), ("[String: Int]", "LiveMap<Int>"),
      ("Decimal", "Decimal128"), ("Any", "AnyValue"), ("[UInt8]", "Data"), ("UInt64", "Int"), ("Character", "String"),
      ("Decimal?", "Decimal128?"), ("Any?", "AnyValue"), ("NSNumber?", "Double?"), ("NSDate", "Date"),
    ] {
      expectComplaint(
        "var x: \(type)", "'\(type)' cannot be persisted; use '\(better)'", at: type,
        fixIt: "replace '\(type)' with '\(better)'", fixed: "var x: \(better)")
    }
  }

  @Test func implicitlyUnwrappedBecomesOptional() {
    expectComplaint(
      "var x: String!", "'String!' cannot be persisted; use 'String?'", at: "String!",
      fixIt: "replace 'String!' with 'String?'", fixed: "var x: String?")
  }

  @Test func unreadableTypesAreAskedFor() {
    expectComplaint(
      "var x = makeInt()", "the type of 'x' cannot be read from its default: write it", at: "x = makeInt()",
      fixIt: "add the type", fixed: "var x: <#Type#> = makeInt()")
  }

  @Test func onePropertyALine() {
    expectComplaint("var a, b: Int", "declare one persisted property a line")
    expectComplaint("var (a, b) = (1, 2)", "a persisted property cannot be part of a tuple", at: "(a, b) = (1, 2)")
  }

  @Test func keysAndInversesHaveTheirShapes() {
    expectComplaint("@PrimaryKey var x: Int?", "a primary key cannot be optional", at: "x: Int?")
    expectComplaint(
      "@Inverse(\\Dog.x) var x: Int", "an inverse is a 'LinkingObjects<…>' or, to one, optional", at: "x: Int")
    expectComplaint(
      "var x: LinkingObjects<Dog>", "say which property this is the inverse of: '@Inverse(\\Type.property)'",
      at: "x: LinkingObjects<Dog>")
    expectComplaint("@FullText var x: LiveList<String>", "a collection cannot be indexed", at: "@FullText var x: LiveList<String>")
    expectComplaint("@Indexed var x: LiveList<Int>", "a collection cannot be indexed", at: "@Indexed var x: LiveList<Int>")
    expectComplaint(
      "@PrimaryKey var a = 1; @PrimaryKey var b = 2", "a model has one primary key", at: "b = 2")
  }

  @Test func marksFitTheirTypes() {
    expectComplaint(
      "@PrimaryKey var x = 0.5", "a primary key is a String, a UUID, an ObjectId or an integer, not Double", at: "@PrimaryKey var x = 0.5")
    expectComplaint(
      "@FullText var x: Int?", "'@FullText' finds the words of a String, and 'x' is Int: '@Indexed' finds values",
      at: "@FullText var x: Int?")
  }

  @Test func whatEveryObjectSaysOfItselfIsNotHidden() {
    for name in ["isInvalidated", "isManaged", "hashValue"] {
      let message = "'\(name)' is what every object has, and a property of that name would hide it: call it otherwise"
      expectComplaint("var \(name) = false", message, at: "\(name) = false")
      expectComplaint("var `\(name)`: Bool { false }", message, at: "`\(name)`: Bool { false }")
      expectComplaint("@Transient var \(name) = false", message, at: "\(name) = false")
      #expect(complaints(about: "@Model final class M {\n  static var \(name) = false\n}") == [])
    }
    #expect(complaints(about: "@Model final class M {\n  var id = 0\n  var description = \"\"\n  var store = \"\"\n}") == [])
  }

  @Test func tuplesAreStructs() {
    expectComplaint(
      "var x: (Int, Int)?", "a tuple cannot be persisted; make it a struct that is a 'PersistableStruct'", at: "(Int, Int)?",
      fixIt: "keep it out of the store with '@Transient'", fixed: "@Transient var x: (Int, Int)?")
  }

  @Test func typesThatSomebodyMayMakePersistableAreNotRefusedByName() {
    #expect(complaints(about: "@Model final class M {\n  var link: URL?\n  var length: TimeInterval = 0\n  var pause: Duration?\n}") == [])
  }

  @Test func onlyFinalClassesAreModels() {
    #expect(
      complaints(about: "@Model class M {}")
        == [
          Met(
            message: "a model class must be 'final'", place: "class M {}", fixIt: "add 'final'",
            fixed: "@Model final class M {}")
        ])
    #expect(
      complaints(about: "@Model public class M {}").map(\.fixed) == ["@Model public final class M {}"])
    #expect(complaints(about: "@Model struct M {}").map(\.message) == ["'@Model' needs a final class; a struct is a '@ValueModel'"])
    #expect(complaints(about: "@Model enum M {}").map(\.message) == ["'@Model' needs a final class"])
    #expect(
      complaints(about: "@Model final class M<T> {}").map(\.message)
        == ["a model class cannot be generic: its schema is one value"])
  }

  @Test func whatIsFineIsNotComplainedAbout() {
    let source = """
      @Model final class M {
        @PrimaryKey var id: UUID = UUID()
        @Transient var cache: [Int] = []
        static var count = 0
        var double: Int { 2 * age }
        var age = -1, ok: Bool { age > 0 }
        var date = Date(timeIntervalSince1970: 0)
        var status = Status.active
        var dogs: LiveList<Dog>
        @Inverse(\\Person.best) var bestOf: Person?
      }
      """
    #expect(complaints(about: source.replacing("var age = -1, ok: Bool { age > 0 }", with: "var age = -1")) == [])
  }

  @Test func embeddedModelsAndDeleteRulesHaveTheirShapes() {
    #expect(
      complaints(about: "@Model(.embedded) final class M {\n  @PrimaryKey var a = 1\n}").map(\.message)
        == ["an embedded model has no primary key: it is found through its owner"])
    expectComplaint(
      "@Relationship(deleteRule: .cascade) @Inverse(\\Dog.x) var x: LinkingObjects<Dog>",
      "a delete rule belongs to the property that points forward, not to its inverse", at: "x: LinkingObjects<Dog>")
    expectComplaint(
      "@Relationship var x: Dog?", "say what happens on delete: '@Relationship(deleteRule: .cascade)'", at: "x: Dog?")
    expectComplaint("@Indexed var x: LiveMap<Int>", "a collection cannot be indexed", at: "@Indexed var x: LiveMap<Int>")
  }

  @Test func valuesHaveNoRelationships() {
    #expect(
      complaints(about: "@ValueModel final class M {}").map(\.message)
        == ["'@ValueModel' needs a struct; a class is a '@Model'"])
    #expect(complaints(about: "@ValueModel struct M<T> {}").map(\.message).count == 1)
    func messages(_ property: String) -> [String] { complaints(about: "@ValueModel struct M {\n  \(property)\n}").map(\.message) }
    let relationship = "a value has no relationships, and nothing follows from them: use a class with '@Model'"
    #expect(messages("@Inverse(\\Dog.x) var x: Dog?") == [relationship])
    #expect(messages("@Derived(\\M.x.count) var n = 0") == [relationship])
    #expect(messages("var x: LiveList<Int>") == ["a value holds its elements: use an Array, a Set or a Dictionary"])
    #expect(messages("let x = 1") == ["a persisted property must be a 'var'"])
    #expect(messages("@PrimaryKey var a = 1\n  @PrimaryKey var b = 2") == ["a model has one primary key"])
    #expect(messages("@Transient let x: Any = 1\n  var y: [Int] = []\n  var z: Set<String> = []\n  var w: [String: Int?] = [:]") == [])
  }
}
