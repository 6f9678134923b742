// The examples of Docs/Models.md, to the letter: `ModelsGuideTests` compares and runs them.
import Foundation
import Vivarium

enum Guide {
  // Guide: types
  @Model final class Project {
    @PrimaryKey var id = ObjectId()
    @Indexed var name = ""
    var budget: Decimal128 = 0
    var started: Date?
    var state = State.open
    var lead: Worker?
    var steps: LiveList<Step>
    var tags: LiveSet<String>
    var contacts: LiveMap<Worker>
    var office: Office?
    var extra: AnyValue
    @Derived(\Project.steps.count) var stepCount = 0
    @Transient var isShown = false
    var isLarge: Bool { budget > 1_000_000 }
  }

  enum State: String, PersistableEnum { case open, closed }

  @Model final class Worker {
    var name = ""
    @Inverse(\Project.lead) var leads: Project?
  }

  @Model final class Step {
    var title = ""
    @Relationship(deleteRule: .cascade) var parts: LiveList<Step>
    @Inverse(\Project.steps) var projects: LinkingObjects<Project>
  }

  @Model(.embedded) final class Office {
    var address = PostalAddress()
    var floor = 0
  }

  struct PostalAddress: PersistableStruct {
    var street = ""
    var city = ""
  }
  // Guide: end

  static func asking(in store: Store) -> Results<Project> {
    // Guide: asking
    let inGhent = store.objects(Project.self).filter("office.address.city == %@", "Ghent")
    // Guide: end
    return inGhent
  }

  static func objects(in store: Store) throws -> (String, Int, Bool) {
    // Guide: objects
    let project = Project(name: "Bridge", budget: 12, office: Office(floor: 3))
    project.steps = [Step(title: "Plan"), Step(title: "Build")]
    try store.write {
      try store.add(project)
      project.tags.formUnion(["steel", "river"])
      project.contacts["site"] = Worker(name: "Ann")
      project.extra = ["length": 120.5, "lanes": 2]
      try store.create(Project.self, value: ["name": "Tunnel", "steps": [["title": "Dig"]]])
    }
    let copy = project.snapshot()             // a sendable value that pins nothing
    let frozen = try project.freeze()         // the object in this version, on any thread
    let json = try JSONEncoder().encode(project.encodable(depth: 2))
    // Guide: end
    return (copy.name, frozen.steps.count, !json.isEmpty)
  }

  // Guide: projections
  final class ProjectCard: Projection<Project> {
    @Projected(\Project.name) var title
    @Projected(\Project.lead, \Worker.name) var leadName      // String?
    @Projected(\Project.steps, \Step.title) var stepTitles    // [String]
  }
  // Guide: end

  static func projecting(in store: Store) throws -> [String] {
    // Guide: projecting
    let cards = store.objects(Project.self).sorted(by: \.name).projected(to: ProjectCard.self)
    let lines = cards.map { "\($0.title): \($0.stepTitles.joined(separator: ", "))" }
    let token = cards.observe { change in      // hears of names, leads and titles alone
      if case .update(_, _, let insertions, _) = change { print(insertions) }
    }
    // Guide: end
    token.stop()
    return lines
  }

  static func reading(in store: Store) throws -> ([String], [String?], Int) {
    // Guide: columns
    let names = try store.objects(Project.self).sorted(by: \.name).values(\.name)         // [String]
    let leads = try store.objects(Project.self).sorted(by: \.name).values(\.lead, \.name)  // [String?]
    let states = Set(try store.objects(Project.self).values(\.state))                     // each once
    // Guide: end
    return (names, leads, states.count)
  }

  // Guide: values
  @ValueModel struct Reading {
    @PrimaryKey var id: Int
    @Indexed var sensor = ""
    var celsius = 0.0
    var tags: [String] = []
  }
  // Guide: end

  static func values(in store: Store) throws -> [String]? {
    // Guide: storing values
    try store.write {
      try store.add(Reading(id: 1, sensor: "attic", celsius: 19))
      try store.add(Reading(id: 1, sensor: "attic", celsius: 21.5, tags: ["warm"]), update: .modified)
    }
    let warm = store.values(Reading.self).where { $0.celsius > 20 }.sorted(by: \.celsius)
    let token = warm.observe { change in                    // the same change sets as of objects
      if case .update(let readings, _, let insertions, _) = change { print(insertions.map { readings[$0].sensor }) }
    }
    let first = store.value(Reading.self, forPrimaryKey: 1)  // a copy
    // Guide: end
    token.stop()
    return first?.tags
  }

  static func deleting(in store: Store) throws {
    // Guide: deleting
    let step = Step(title: "Whole")
    step.parts = [Step(title: "Part")]
    try store.write { try store.add(step) }
    try store.write { try store.delete(step) }   // the part goes with it, in the same commit
    if step.isInvalidated { print(step.title) }  // "": reading what is gone never stops the process
    // Guide: end
  }

  static func migrating(_ configuration: Store.Configuration) throws -> Store {
    // Guide: migrating
    var configuration = configuration
    configuration.schemaVersion = 2
    configuration.migration = { migration, oldVersion in
      try migration.enumerateObjects(ofType: "Project") { old, new in
        try new?.set("name", to: .string("\(old["name"])!"))
      }
    }
    configuration.migrations = [
      NamedMigration("tidy names") { migration in
        try migration.enumerateObjects(ofType: "Worker") { _, new in
          if let new, new["name"] == .string("") { try migration.delete(new) }
        }
      }
    ]
    let report = try Store.dryRun(configuration)   // what would be done, and what would fail
    for outcome in report.outcomes { print(outcome) }   // "Project.rank: 12 objects get 5"
    if let failure = report.failure { throw failure }
    return try Store(configuration)
    // Guide: end
  }
}
