import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Vivarium
import VivariumTestSupport

/// A mistake that compiles, as a program with it meets it.
struct RunTimeMistake {
  let written: String
  /// What was thrown, logged and told, in this order.
  let said: [String]
}

/// What a run says: errors that are thrown, lines that are logged, and errors that observers are told.
private final class Transcript: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ how: String, _ text: String) {
    // Lines of this file change with it, numbers of threads and names of stores with every run.
    let place = text.replacing(/[A-Za-z]+\/[A-Za-z]+\.swift:[0-9]+/, with: "App/File.swift:12")
    lines.withLock { $0.append("\(how): \(place)") }
  }

  var all: [String] { lines.withLock { $0 } }
}

extension RunTimeMistake {
  /// Makes the mistake in a store of its own that logs what a debug build would stop at.
  init(
    _ written: String, open: (StoreConfiguration) throws -> Store = { try Store($0) },
    _ make: (Store, inout [NotificationToken]) throws -> Void
  ) {
    let transcript = Transcript()
    StoreLog.$listener.withValue({ transcript.add("logged", $0) }) {
      do {
        var configuration = StoreConfiguration.reference(nil, models: [Person.self, Dog.self, Chat.self, Message.self])
        configuration.misuse = .log
        var tokens: [NotificationToken] = []
        try make(try open(configuration), &tokens)
      } catch {
        transcript.add("thrown", "\(error)")
      }
    }
    self.written = written
    said = transcript.all.isEmpty ? ["nothing"] : transcript.all
  }

  /// Observes, and says what the observer is told first.
  private static func observing(
    _ written: String, _ begin: (Store, @escaping (StoreError) -> Void) throws -> NotificationToken
  ) -> RunTimeMistake {
    let told = Transcript()
    let made = RunTimeMistake(written) { store, tokens in tokens.append(try begin(store) { told.add("told", "\($0)") }) }
    return RunTimeMistake(written: written, said: told.all + made.said.filter { $0 != "nothing" || told.all.isEmpty })
  }
}

// MARK: - The mistakes

extension RunTimeMistake {
  static var queries: [RunTimeMistake] {
    [
      RunTimeMistake("people.filter(\"naem == 'x'\").count") { store, _ in _ = store.objects(Person.self).filter("naem == 'x'").count },
      RunTimeMistake("people.filter(\"age >\").count") { store, _ in _ = store.objects(Person.self).filter("age >").count },
      RunTimeMistake("people.filter(\"age > %@\").count") { store, _ in _ = store.objects(Person.self).filter("age > %@").count },
      RunTimeMistake("people.filter(\"age > 'x'\").count") { store, _ in _ = store.objects(Person.self).filter("age > 'x'").count },
      RunTimeMistake("try people.filter(format: \"naem == 'x'\")") { store, _ in
        _ = try store.objects(Person.self).filter(format: "naem == 'x'")
      },
      RunTimeMistake("people.where { $0.isAdult == true }.count, a computed property") { store, _ in
        _ = store.objects(Person.self).where { $0.isAdult == true }.count
      },
      RunTimeMistake("people.filter(#Predicate { $0.isAdult }).count") { store, _ in
        _ = store.objects(Person.self).filter(#Predicate { $0.isAdult }).count
      },
      RunTimeMistake("people.sorted(byKeyPath: \"naem\").count") { store, _ in
        _ = store.objects(Person.self).sorted(byKeyPath: "naem").count
      },
      RunTimeMistake("people[5], of none") { store, _ in _ = store.objects(Person.self)[5].name },
      RunTimeMistake("store.objects(Node.self).count, a type that is not in 'models'") { store, _ in _ = store.objects(Node.self).count },
      RunTimeMistake("try store.dynamicObjects(\"Pesron\")") { store, _ in _ = try store.dynamicObjects("Pesron") },
    ]
  }

  static var writes: [RunTimeMistake] {
    [
      RunTimeMistake("person.age = 41, outside a write") { store, _ in
        let person = Person(name: "Ann")
        try store.write { try store.add(person) }
        person.age = 41
      },
      RunTimeMistake("try store.add(Node()), a type that is not in 'models'") { store, _ in try store.write { try store.add(Node()) } },
      RunTimeMistake("two objects of one primary key") { store, _ in
        try store.write {
          try store.add(Message(number: 1, shout: "a"))
          try store.add(Message(number: 1, shout: "b"))
        }
      },
      RunTimeMistake("person.id = UUID(), a primary key, in a write") { store, _ in
        let person = Person()
        try store.write { try store.add(person) }
        try store.write { person.id = UUID() }
      },
      RunTimeMistake("list.append of a new object whose primary key is there") { store, _ in
        let chat = Chat()
        try store.write {
          try store.add(Message(number: 1, shout: "a"))
          try store.add(chat)
        }
        try store.write { chat.messages.append(Message(number: 1, shout: "b")) }
      },
      RunTimeMistake("store.write { store.write { } }") { store, _ in try store.write { try store.write {} } },
      RunTimeMistake("try store.commitWrite(), where nothing began") { store, _ in try store.commitWrite() },
      RunTimeMistake("list.remove(at: 3), of none, in a write") { store, _ in
        let person = Person()
        try store.write {
          try store.add(person)
          person.dogs.remove(at: 3)
        }
      },
      RunTimeMistake("a deleted object is read") { store, _ in
        let dog = Dog(name: "Rex")
        try store.write { try store.add(dog) }
        try store.write { try store.delete(dog) }
        _ = dog.name
      },
      RunTimeMistake("a deleted object is set, in a write") { store, _ in
        let dog = Dog(name: "Rex")
        try store.write { try store.add(dog) }
        try store.write {
          try store.delete(dog)
          dog.age = 3
        }
      },
      RunTimeMistake("an object of another store is linked") { store, _ in
        let elsewhere = try Store(.reference(nil, models: [Person.self, Dog.self]))
        let (dog, person) = (Dog(name: "Rex"), Person())
        try elsewhere.write { try elsewhere.add(dog) }
        try store.write {
          try store.add(person)
          person.best = dog
        }
      },
    ]
  }

  static var observers: [RunTimeMistake] {
    [
      observing("results.observe { }, in a store of no actor, queue or run loop") { store, tell in
        store.objects(Person.self).observe { if case .error(let error) = $0 { tell(error) } }
      },
      RunTimeMistake("results.observe { }, and the token is not kept") { store, _ in
        var configuration = StoreConfiguration.reference(nil, models: [Person.self, Dog.self])
        configuration.manualDelivery = true
        let quiet = try Store(configuration)
        _ = quiet.objects(Dog.self).observe { _ in }
      },
      observing("an object that is in no store is observed") { _, tell in
        Dog(name: "Rex").observe { if case .error(let error) = $0 { tell(error) } }
      },
    ]
  }

  static var openings: [RunTimeMistake] {
    [
      RunTimeMistake("a property has another name, and nobody says so", open: opened(by: [Renamed.Shelved.self])) { _, _ in },
      RunTimeMistake("a property has another type", open: opened(by: [Retyped.Shelved.self])) { _, _ in },
      RunTimeMistake("a model with a superclass", open: opened(by: [Heir.self])) { _, _ in },
      RunTimeMistake("a model that links to a type that is not in 'models'", open: opened(by: [Person.self])) { _, _ in },
    ]
  }

  /// Opens a store of shelves by a program of other models.
  private static func opened(by models: [any SchemaDescribing.Type]) -> (StoreConfiguration) throws -> Store {
    { configuration in
      var before = configuration
      before.models = [Yesterday.Shelved.self]
      let store = try Store(before)
      try store.write { try store.add(Yesterday.Shelved(title: "Moby-Dick", pages: 600)) }
      var after = configuration
      after.models = models
      return try Store(after)
    }
  }
}

@Model final class Chat {
  var messages: LiveList<Message>
}

/// What a program was yesterday.
enum Yesterday {
  @Model final class Shelved {
    var title = ""
    var pages = 0
  }
}

/// The same program with another name of a property.
enum Renamed {
  @Model final class Shelved {
    var title = ""
    var pageCount = 0
  }
}

/// The same with a property of another type.
enum Retyped {
  @Model final class Shelved {
    var title = ""
    var pages = ""
  }
}

class Ancestor {}
@Model final class Heir: Ancestor { var name = "" }
