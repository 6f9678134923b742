// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Warnings are errors in this package's own build; SwiftPM silences them where it is a dependency.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// The one way a target is declared: where it lives, what it may import, the settings all share.
enum Room {
  static func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: strict)
  }
  static func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(
      name: name, path: "Modules/\(name)", pkgConfig: pkgConfig,
      providers: [.apt([apt]), .brew([brew])])
  }
  static func macros(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .macro(name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: strict)
  }
  static func program(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
  }
  /// A library that programs share with their tests.
  static func library(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
  }
  /// A library that only tests use.
  static func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
  }
  static func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
  }
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
/// Where the system has no Combine of its own.
let openCombine: Target.Dependency = .product(
  name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux, .windows, .android]))
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let syntax: [Target.Dependency] = [
  .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
  .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
]

let targets: [Target] = [
  // Rank 0: what the system has.
  Room.module("CSystem"),
  Room.system("CLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
  Room.system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
  // Rank 0 to 2: values, the question, the plug point.
  Room.module("Values"),
  Room.module("QueryModel", ["Values"]),
  Room.module("Storage", ["Values", "QueryModel"]),
  // Rank 3 and 4: what stands on the plug point and knows no database.
  Room.module("Coordination", ["CSystem", "Storage", "Values"]),
  Room.module("ColumnStore", ["Coordination", "QueryModel", "Storage", "Values"]),
  Room.module("QueryEngine", ["CSystem", "QueryModel", "Storage", "Values"]),
  Room.module("ChangeTracker", ["QueryModel", "Storage", "Values"]),
  Room.module("SyncModel", ["Values"]),
  // Rank 5: the engines, who hears of a commit, and reading without Swift types.
  Room.module("StorageMemory", ["ColumnStore", "Coordination", "Storage", "Values"]),
  Room.module("StorageLMDB", ["CLMDB", "CSystem", "ColumnStore", "Coordination", "Storage", "Values"]),
  Room.module("StorageSQLite", ["CSQLite", "CSystem", "Coordination", "QueryModel", "Storage", "Values"]),
  Room.module("Notifications", ["ChangeTracker", "Storage", "Values", logging]),
  Room.module("Inspection", ["ChangeTracker", "QueryEngine", "QueryModel", "Storage", "Values"]),
  // Rank 6: the face.
  Room.macros("VivariumMacros", syntax),
  Room.module(
    "Vivarium",
    ["ChangeTracker", "Notifications", "QueryEngine", "QueryModel", "Storage", "Values", "VivariumMacros", logging]),
  // Rank 7: companions on top of the face.
  Room.module("Operations", ["Vivarium"]),
  Room.module("ResultsControl", ["ChangeTracker", "Values", "Vivarium"]),
  Room.module("Reactive", ["ChangeTracker", "Vivarium", openCombine]),
  Room.module("Messages", ["Values", "Vivarium"]),
  // Rank 9 and 10: programs, and what they share with tests.
  Room.program(
    "inspect", ["Inspection", "Storage", "StorageLMDB", "StorageSQLite", "Values", argumentParser], path: "Tools/inspect"),
  Room.program(
    "vivarium-demo",
    ["Inspection", "Storage", "StorageLMDB", "StorageMemory", "StorageSQLite", "Vivarium", argumentParser],
    path: "Tools/vivarium-demo"),
  Room.program(
    "vivarium-tasks", ["ResultsControl", "StorageLMDB", "Vivarium", argumentParser], path: "Tools/vivarium-tasks"),
  Room.program("conformance", ["ConformanceCases"], path: "Tools/conformance"),
  Room.library(
    "ConformanceCases",
    ["ChangeTracker", "QueryEngine", "QueryModel", "Storage", "StorageLMDB", "StorageMemory", "StorageSQLite", "Values"],
    path: "Tools/ConformanceCases"),
  // Tests and what they share.
  Room.tests(
    "ConformanceTests", ["ConformanceCases", "QueryEngine", "QueryModel", "Storage", "TestSupport", "Values"]),
  Room.support("TestSupport", ["QueryModel", "Storage", "Values"]),
  Room.support("StorageConformance", ["QueryModel", "Storage", "TestSupport", "Values"]),
  Room.tests("ValuesTests", ["TestSupport", "Values"]),
  Room.tests("QueryModelTests", ["QueryModel", "Values"]),
  Room.tests("StorageTests", ["Storage", "TestSupport", "Values"]),
  Room.tests("TestSupportTests", ["Storage", "StorageConformance", "TestSupport", "Values"]),
  Room.tests("CoordinationTests", ["Coordination", "CSystem", "Storage", "TestSupport", "Values"]),
  Room.tests(
    "ColumnStoreTests",
    ["ColumnStore", "Coordination", "QueryEngine", "QueryModel", "Storage", "StorageConformance", "StorageMemory", "TestSupport", "Values"]),
  Room.tests(
    "StorageMemoryTests", ["ColumnStore", "Storage", "StorageConformance", "StorageMemory", "TestSupport", "Values"]),
  Room.tests(
    "StorageLMDBTests",
    ["CLMDB", "CSystem", "ColumnStore", "Coordination", "Storage", "StorageConformance", "StorageLMDB", "TestSupport", "Values"]),
  Room.tests(
    "StorageSQLiteTests",
    ["CSQLite", "Coordination", "QueryModel", "Storage", "StorageConformance", "StorageSQLite", "TestSupport", "Values"]),
  Room.tests(
    "QueryEngineTests",
    ["QueryEngine", "QueryModel", "Storage", "StorageLMDB", "StorageMemory", "StorageSQLite", "TestSupport", "Values"]),
  Room.tests(
    "ChangeTrackerTests", ["ChangeTracker", "QueryEngine", "QueryModel", "Storage", "TestSupport", "Values"]),
  Room.tests("SyncModelTests", ["SyncModel", "TestSupport", "Values"]),
  Room.tests("NotificationsTests", ["ChangeTracker", "Notifications", "Storage", "TestSupport", "Values", logging]),
  Room.tests(
    "VivariumTests", ["QueryEngine", "QueryModel", "Storage", "TestSupport", "Values", "Vivarium"]),
  Room.tests(
    "VivariumMacrosTests",
    ["VivariumMacros", .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax")]),
  Room.tests(
    "IntegrationTests",
    [
      "Inspection", "QueryEngine", "QueryModel", "ResultsControl", "Storage", "StorageLMDB", "StorageMemory", "StorageSQLite", "TestSupport",
      "Values", "Vivarium",
    ]),
  Room.tests("OperationsTests", ["Operations", "StorageMemory", "TestSupport", "Vivarium"]),
  Room.tests(
    "ResultsControlTests",
    ["ChangeTracker", "ResultsControl", "StorageMemory", "TestSupport", "Values", "Vivarium"]),
  Room.tests("ReactiveTests", ["Reactive", "StorageMemory", "TestSupport", "Vivarium", openCombine]),
  Room.support("MessageSamples", ["Messages", "StorageLMDB", "Vivarium"]),
  Room.program(
    "message-child", ["MessageSamples", "Messages", "StorageLMDB", "TestSupport", "Vivarium"], path: "Tests/MessageChild"),
  Room.tests(
    "MessagesTests",
    ["MessageSamples", "Messages", "StorageLMDB", "StorageMemory", "TestSupport", "Vivarium", "message-child"]),
  Room.tests("TasksProgramTests", ["TestSupport", "vivarium-tasks"]),
  Room.tests(
    "InspectionTests",
    ["Inspection", "QueryModel", "Storage", "StorageLMDB", "StorageMemory", "StorageSQLite", "TestSupport", "Values"]),
  Room.tests(
    "InspectProgramTests",
    ["CSQLite", "ColumnStore", "Inspection", "Storage", "StorageLMDB", "StorageSQLite", "TestSupport", "Values", "inspect"]),
  Room.tests(
    "ModelTests",
    ["Storage", "StorageConformance", "StorageLMDB", "StorageMemory", "StorageSQLite", "TestSupport", "Values"]),
  Room.support("PowerCut", []),
  Room.program(
    "power-cut-child", ["PowerCut", "Storage", "StorageLMDB", "StorageSQLite", "TestSupport", "Values"],
    path: "Tests/PowerCutChild"),
  Room.tests(
    "PowerCutTests", ["Storage", "StorageLMDB", "StorageSQLite", "TestSupport", "power-cut-child"]),
  Room.program(
    "watch-child", ["StorageLMDB", "StorageSQLite", "Vivarium"], path: "Tests/WatchChild"),
  Room.tests(
    "ObservationTests", ["StorageLMDB", "StorageSQLite", "TestSupport", "Vivarium", "watch-child"]),
  Room.program(
    "crash-child",
    ["CLMDB", "CSystem", "Coordination", "Storage", "StorageLMDB", "StorageSQLite", "TestSupport", "Values"],
    path: "Tests/CrashChild"),
  Room.support("MigrationSamples", ["Storage", "StorageLMDB", "StorageSQLite", "Vivarium"]),
  Room.program(
    "migration-child", ["MigrationSamples", "Storage", "TestSupport", "Values", "Vivarium"], path: "Tests/MigrationChild"),
  Room.tests(
    "MigrationCrashTests", ["MigrationSamples", "Storage", "TestSupport", "Vivarium", "migration-child"]),
  Room.tests(
    "CrashTests",
    ["Storage", "StorageLMDB", "StorageSQLite", "TestSupport", "Values", "crash-child"]),
]

let libraries = [
  "Values", "QueryModel", "Storage", "Coordination", "ColumnStore", "QueryEngine", "ChangeTracker", "SyncModel",
  "StorageMemory", "StorageLMDB", "StorageSQLite", "Notifications", "Vivarium", "Inspection",
  "Operations", "ResultsControl", "Reactive", "Messages",
]

let package = Package(
  name: "Vivarium",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: libraries.map { .library(name: $0, targets: [$0]) },
  dependencies: [
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: targets
)
