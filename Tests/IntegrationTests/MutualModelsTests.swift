import Testing
import Vivarium
import VivariumTestSupport

/// Models that refer to themselves and to each other.
@Suite struct MutualModelsTests {
  @Test(arguments: Engine.allCases) func aTypeMayListItself(engine: Engine) throws {
    let (configuration, directory) = engine.place([Node.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let (root, leaf) = (Node(name: "root"), Node(name: "leaf"))
    root.children = [leaf, Node(name: "twig"), root]
    leaf.children = [root]
    try store.write { try store.add(root) }
    #expect(root.children.map(\.name) == ["leaf", "twig", "root"] && leaf.children.map(\.name) == ["root"])
    #expect(root.parents.map(\.name) == ["root", "leaf"] && leaf.parents.map(\.name) == ["root"])
    try store.write { try store.delete(leaf) }
    #expect(root.children.map(\.name) == ["twig", "root"] && root.parents.map(\.name) == ["root"])
  }

  @Test(arguments: Engine.allCases) func aListAndALinkMayPointAtEachOther(engine: Engine) throws {
    let (configuration, directory) = engine.place([Owner.self, Pet.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let (jane, rex) = (Owner(name: "Jane"), Pet(name: "Rex"))
    jane.pets = [rex, Pet(name: "Tom")]
    rex.favourite = jane
    try store.write { try store.add(rex) }
    #expect(jane.pets.map(\.name) == ["Rex", "Tom"] && jane.admirers.map(\.name) == ["Rex"])
    #expect(rex.favourite == jane && rex.owners.map(\.name) == ["Jane"])
    try store.write {
      jane.pets[1].favourite = jane
      jane.pets.remove(at: 0)
    }
    #expect(jane.admirers.map(\.name) == ["Rex", "Tom"] && rex.owners.isEmpty)
    try store.write { try store.delete(jane) }
    #expect(rex.favourite == nil && store.objects(Pet.self).count == 2)
  }

  @Test(arguments: Engine.allCases) func twoTypesMayListEachOther(engine: Engine) throws {
    let (configuration, directory) = engine.place([Left.self, Right.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let (one, two) = (Left(name: "1"), Right(name: "2"))
    one.rights = [two, Right(name: "3")]
    two.lefts = [one, one]
    try store.write { try store.add(one) }
    #expect(one.rights.map(\.name) == ["2", "3"] && two.lefts.toArray() == [one, one])
    #expect(one.heldBy.map(\.name) == ["2", "2"] && two.heldBy.map(\.name) == ["1"])
    #expect(one.rights.where { $0.name == "3" }?.first?.heldBy.first == one)
  }
}
