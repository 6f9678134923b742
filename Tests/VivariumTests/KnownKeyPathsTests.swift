import Dispatch
import Testing
@testable import Vivarium

@Suite struct KnownKeyPathsTests {
  @Test func aKeyPathIsTheSamePropertyOnEveryThread() {
    let names = Person._$schema.properties.map(\.name)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<200 {
        for (path, name) in zip(Person._$keyPaths, names) where Person.propertyName(of: path) != name {
          Issue.record("\(path) is \(Person.propertyName(of: path) ?? "none"), not \(name)")
        }
      }
    }
  }

  @Test func whatWasKeptIsFoundForItsModelAlone() throws {
    let path = try #require(Person._$keyPaths.first)
    let name = try #require(Person.propertyName(of: path))
    #expect(KnownKeyPaths.property(of: path, in: Person.self)?.name == name)
    #expect(KnownKeyPaths.property(of: path, in: Dog.self) == nil)
    #expect(KnownKeyPaths.property(of: \String.count, in: Person.self) == nil)
  }
}
