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
/// The client of PostgreSQL, which a server alone needs: without the trait nobody looks for it, and with it only who builds a server.
let postgres: Target.Dependency = .target(name: "CVivariumPostgres", condition: .when(traits: ["Sync"]))
/// What speaks to networks, for who asks for the trait: an app without it resolves none of it.
func network(_ products: String..., package: String = "swift-nio") -> [Target.Dependency] {
  products.map { .product(name: $0, package: package, condition: .when(traits: ["Sync"])) }
}
let transportSecurity = network("NIOSSL", package: "swift-nio-ssl")
let cryptography = network("Crypto", "CryptoExtras", package: "swift-crypto")
/// What encrypts files, for who asks for the trait.
let encryption: [Target.Dependency] = ["Crypto", "CryptoExtras"].map {
  .product(name: $0, package: "swift-crypto", condition: .when(traits: ["Encryption"]))
}
let webTokens = network("JWTKit", package: "jwt-kit")
let syntax: [Target.Dependency] = [
  .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
  .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
]

let targets: [Target] = [
  // Rank 0: what the system has.
  Room.module("CVivariumSystem"),
  Room.system("CVivariumLMDB", pkgConfig: "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
  Room.system("CVivariumSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
  Room.system("CVivariumZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
  Room.system("CVivariumPostgres", pkgConfig: "libpq", apt: "libpq-dev", brew: "libpq"),
  // Rank 0 to 2: values, the question, the storage interface.
  Room.module("StoreValues"),
  Room.module("QueryModel", ["StoreValues"]),
  Room.module("StorageInterface", ["QueryModel", "StoreValues"]),
  // Rank 3 and 4: what stands on the storage interface and knows no database.
  Room.module("StorageCoordination", ["CVivariumSystem", "StorageInterface", "StoreValues"]),
  Room.module("ColumnStore", ["QueryModel", "StorageCoordination", "StorageInterface", "StoreValues"]),
  Room.module("StorageIncrements", ["CVivariumSystem", "StorageCoordination", "StorageInterface", "StoreValues"]),
  Room.module("QueryEngine", ["CVivariumSystem", "QueryModel", "StorageInterface", "StoreValues"]),
  Room.module("ChangeTracker", ["QueryModel", "StorageInterface", "StoreValues"]),
  Room.module("SyncModel", ["StoreValues"]),
  Room.module("SyncProtocol", ["CVivariumZlib", "SyncModel"]),
  // Rank 5: the engines, who hears of a commit, and reading without Swift types.
  Room.module("StorageMemory", ["ColumnStore", "StorageCoordination", "StorageInterface", "StoreValues"]),
  Room.module(
    "StorageLMDB",
    ["CVivariumLMDB", "CVivariumSystem", "ColumnStore", "StorageCoordination", "StorageInterface", "StoreValues"]),
  Room.module(
    "StorageSQLite",
    ["CVivariumSQLite", "CVivariumSystem", "QueryModel", "StorageCoordination", "StorageInterface", "StoreValues"]),
  Room.module("StorageEncryption", ["StorageInterface"] + encryption),
  Room.module("Notifications", ["ChangeTracker", "StorageInterface", "StoreValues", logging]),
  Room.module("SyncServer", ["StorageCoordination", "SyncModel", "SyncProtocol", logging]),
  Room.module(
    "SyncWebSocket",
    ["SyncProtocol"] + network("NIOCore", "NIOHTTP1", "NIOPosix", "NIOTLS", "NIOWebSocket") + transportSecurity + cryptography),
  Room.module("MacroExpansions", [.product(name: "SwiftSyntaxMacros", package: "swift-syntax")]),
  Room.module("StoreInspection", ["ChangeTracker", "QueryEngine", "QueryModel", "StorageInterface", "StoreValues"]),
  // Rank 6: `Vivarium`, and what a server stands on.
  Room.module(
    "SyncStoreEmbedded",
    ["StorageCoordination", "StorageInterface", "StorageLMDB", "SyncModel", "SyncProtocol", "SyncServer"]),
  Room.module("SyncStorePostgres", ["StoreValues", "SyncModel", "SyncProtocol", "SyncServer", postgres]),
  Room.module("SyncTokens", ["SyncModel", "SyncProtocol", "SyncServer"] + cryptography + webTokens),
  Room.macros("VivariumMacros", ["MacroExpansions"] + syntax),
  Room.module(
    "Vivarium",
    [
      "ChangeTracker", "Notifications", "QueryEngine", "QueryModel", "StorageCoordination", "StorageIncrements", "StorageInterface",
      "StoreValues", "VivariumMacros", logging,
    ]),
  // Rank 7: companions on top of `Vivarium`.
  Room.module("StoreOperations", ["Vivarium"]),
  Room.module("ResultsControl", ["ChangeTracker", "StoreValues", "Vivarium"]),
  Room.module("StoreReactive", ["ChangeTracker", "Vivarium", openCombine]),
  Room.module("StoreMessages", ["StoreValues", "Vivarium"]),
  // Rank 8: replication.
  Room.module(
    "SyncClient",
    [
      "ChangeTracker", "Notifications", "StorageCoordination", "StorageInterface", "StoreValues", "SyncModel", "SyncProtocol", "Vivarium",
    ]),
  // Rank 9 and 10: what users ask of a server, and what a server does with what comes.
  Room.module("SyncManagement", ["StoreMessages", "SyncClient", "SyncProtocol", "Vivarium"]),
  Room.module(
    "SyncEvents",
    [
      "ChangeTracker", "QueryEngine", "QueryModel", "StorageInterface", "StorageMemory", "StoreMessages", "StoreValues", "SyncClient",
      "SyncManagement", "SyncModel", "SyncProtocol", "SyncServer", "Vivarium",
    ]),
  // Rank 9 and 11: programs, and what they share with tests.
  Room.program(
    "inspect",
    [
      "StorageCoordination", "StorageEncryption", "StorageIncrements", "StorageInterface", "StorageLMDB", "StorageSQLite",
      "StoreInspection", "StoreValues", "SyncClient", argumentParser,
    ], path: "Tools/inspect"),
  Room.program(
    "vivarium-demo",
    [
      "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreInspection", "Vivarium",
      argumentParser,
    ], path: "Tools/vivarium-demo"),
  Room.program(
    "vivarium-tasks",
    [
      "ResultsControl", "StorageInterface", "StorageLMDB", "SyncClient", "SyncProtocol", "SyncWebSocket", "Vivarium", argumentParser,
    ], path: "Tools/vivarium-tasks"),
  Room.program(
    "vivarium-server",
    [
      "StoreValues", "SyncEvents", "SyncModel", "SyncProtocol", "SyncServer", "SyncStoreEmbedded", "SyncStorePostgres", "SyncTokens",
      "SyncWebSocket", argumentParser, logging,
    ], path: "Tools/vivarium-server"),
  Room.library("SyncProving", [], path: "Tools/SyncProving"),
  Room.library("StorageForwarding", ["StorageInterface", "StoreValues"], path: "Tools/StorageForwarding"),
  Room.library(
    "ServerStoreForwarding", ["SyncModel", "SyncProtocol", "SyncServer"], path: "Tools/ServerStoreForwarding"),
  Room.library("SyncRules", ["SyncModel", "SyncProtocol"], path: "Tools/SyncRules"),
  Room.program("sync-conformance", ["SyncProtocol", "SyncRules", "SyncWebSocket", argumentParser], path: "Tools/sync-conformance"),
  Room.program("vivarium-sync-demo", ["SyncProving", argumentParser], path: "Tools/vivarium-sync-demo"),
  Room.program(
    "vivarium-messages-demo",
    [
      "StorageLMDB", "StoreMessages", "SyncClient", "SyncEvents", "SyncProving", "SyncServer", "SyncStoreEmbedded", "SyncWebSocket",
      "Vivarium", argumentParser,
    ], path: "Tools/vivarium-messages-demo"),
  Room.program(
    "SyncCheck",
    [
      "ServerStoreForwarding", "StorageForwarding", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreMessages",
      "StoreValues", "SyncClient", "SyncEvents", "SyncManagement", "SyncModel", "SyncProtocol", "SyncProving", "SyncServer", "SyncStoreEmbedded", "SyncStorePostgres",
      "SyncWebSocket", "Vivarium", argumentParser,
    ] + network("NIOCore", "NIOPosix"), path: "Tools/SyncCheck"),
  Room.program("conformance", ["ConformanceCases"], path: "Tools/conformance"),
  Room.library(
    "ConformanceCases",
    [
      "ChangeTracker", "QueryEngine", "QueryModel", "StorageInterface", "StorageLMDB", "StorageMemory",
      "StorageSQLite", "StoreValues",
    ], path: "Tools/ConformanceCases"),
  // Tests and what they share.
  Room.tests(
    "ConformanceTests",
    ["ConformanceCases", "QueryEngine", "QueryModel", "StorageInterface", "StoreValues", "VivariumTestSupport"]),
  Room.support("StorageReference", ["StorageInterface", "StoreValues"]),
  Room.support("VivariumTestSupport", ["QueryModel", "StorageForwarding", "StorageInterface", "StorageReference", "StoreValues"]),
  Room.support(
    "StorageConformance", ["QueryModel", "StorageInterface", "StorageReference", "StoreValues", "VivariumTestSupport"]),
  Room.tests("StoreValuesTests", ["StoreValues", "VivariumTestSupport"]),
  Room.tests("QueryModelTests", ["QueryModel", "StoreValues"]),
  Room.tests("StorageInterfaceTests", ["StorageInterface", "StoreValues", "VivariumTestSupport"]),
  Room.tests(
    "VivariumTestSupportTests",
    [
      "StorageConformance", "StorageInterface", "StorageMemory", "StorageReference", "StoreValues",
      "VivariumTestSupport",
    ]),
  Room.tests(
    "StorageCoordinationTests",
    ["CVivariumSystem", "StorageCoordination", "StorageInterface", "StoreValues", "VivariumTestSupport"]),
  Room.tests(
    "ColumnStoreTests",
    [
      "ColumnStore", "QueryEngine", "QueryModel", "StorageConformance", "StorageCoordination", "StorageInterface",
      "StorageMemory", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests(
    "StorageMemoryTests",
    ["ColumnStore", "StorageConformance", "StorageInterface", "StorageMemory", "StoreValues", "VivariumTestSupport"]),
  Room.tests(
    "StorageLMDBTests",
    [
      "CVivariumLMDB", "CVivariumSystem", "ColumnStore", "StorageConformance", "StorageCoordination",
      "StorageInterface", "StorageLMDB", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests(
    "StorageSQLiteTests",
    [
      "CVivariumSQLite", "QueryModel", "StorageConformance", "StorageCoordination", "StorageInterface",
      "StorageReference", "StorageSQLite", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests(
    "StorageEncryptionTests",
    [
      "CVivariumSQLite", "ColumnStore", "StorageConformance", "StorageCoordination", "StorageEncryption", "StorageInterface", "StorageLMDB",
      "StorageMemory", "StorageSQLite", "StoreInspection", "StoreValues", "Vivarium", "VivariumTestSupport",
    ]),
  Room.tests(
    "QueryEngineTests",
    [
      "QueryEngine", "QueryModel", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageReference",
      "StorageSQLite", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests(
    "ChangeTrackerTests",
    [
      "ChangeTracker", "QueryEngine", "QueryModel", "StorageConformance", "StorageForwarding", "StorageInterface", "StorageMemory",
      "StorageReference", "StorageSQLite", "StoreValues", "VivariumTestSupport",
    ]),
  Room.support("SyncServerConformance", ["StoreValues", "SyncModel", "SyncProtocol", "SyncServer", "VivariumTestSupport"]),
  Room.tests(
    "SyncServerTests",
    ["ServerStoreForwarding", "StoreValues", "SyncModel", "SyncProtocol", "SyncRules", "SyncServer", "SyncServerConformance", "VivariumTestSupport", logging]),
  Room.tests(
    "SyncStoreEmbeddedTests",
    [
      "StorageInterface", "StorageLMDB", "StoreValues", "SyncModel", "SyncProtocol", "SyncServer", "SyncServerConformance",
      "SyncStoreEmbedded", "VivariumTestSupport",
    ]),
  Room.program(
    "postgres-child",
    ["SyncModel", "SyncProtocol", "SyncServer", "SyncStorePostgres"], path: "Tests/PostgresChild"),
  Room.tests(
    "SyncStorePostgresTests",
    [
      "StoreValues", "SyncModel", "SyncProtocol", "SyncProving", "SyncServer", "SyncServerConformance", "SyncStorePostgres",
      "VivariumTestSupport", "postgres-child",
    ]),
  Room.tests(
    "SyncWebSocketTests",
    ["SyncProtocol", "SyncWebSocket", "VivariumTestSupport"] + network("NIOCore", "NIOEmbedded", "NIOPosix", "NIOWebSocket")),
  Room.tests(
    "SyncTokensTests",
    ["SyncModel", "SyncProtocol", "SyncServer", "SyncTokens", "VivariumTestSupport"] + cryptography),
  Room.tests(
    "SyncServerProgramTests",
    [
      "StorageLMDB", "SyncClient", "SyncEvents", "SyncProtocol", "SyncProving", "SyncServer", "SyncStoreEmbedded", "SyncWebSocket", "Vivarium",
      "VivariumTestSupport", "vivarium-server", "sync-conformance", "vivarium-messages-demo", "vivarium-sync-demo", "vivarium-tasks",
    ] + network("Crypto", package: "swift-crypto")),
  Room.tests("SyncProtocolTests", ["StoreValues", "SyncModel", "SyncProtocol", "VivariumTestSupport"]),
  Room.tests("SyncModelTests", ["StoreValues", "SyncModel", "VivariumTestSupport"]),
  Room.support(
    "SyncSimulation",
    [
      "ChangeTracker", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreValues", "SyncClient", "SyncModel",
      "SyncProtocol", "SyncServer", "Vivarium", "VivariumTestSupport",
    ]),
  Room.program("sync-simulation", ["SyncSimulation", argumentParser], path: "Tests/SyncSimulationProgram"),
  Room.program(
    "sync-bench",
    [
      "ChangeTracker", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreValues", "SyncClient", "SyncModel",
      "SyncProtocol", "SyncProving", "SyncServer", "SyncStoreEmbedded", "SyncStorePostgres", "SyncWebSocket", "Vivarium", argumentParser,
    ], path: "Tests/SyncBenchmark"),
  Room.program(
    "event-child",
    [
      "ServerStoreForwarding", "StorageLMDB", "StoreMessages", "SyncClient", "SyncEvents", "SyncModel", "SyncProtocol", "SyncServer", "SyncStoreEmbedded",
      "Vivarium",
    ], path: "Tests/EventChild"),
  Room.tests(
    "SyncEventsTests",
    [
      "ServerStoreForwarding", "StorageLMDB", "StorageMemory", "StoreMessages", "SyncClient", "SyncEvents", "SyncManagement", "SyncModel", "SyncProtocol",
      "SyncProving", "SyncServer", "SyncServerConformance", "Vivarium", "VivariumTestSupport", "event-child",
    ]),
  Room.tests(
    "StorageIncrementsTests",
    [
      "CVivariumSQLite", "ChangeTracker", "StorageEncryption", "StorageForwarding", "StorageIncrements", "StorageInterface", "StorageLMDB",
      "StorageMemory", "StorageReference", "StorageSQLite", "StoreInspection", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests("SyncSimulationTests", ["SyncSimulation", "VivariumTestSupport"]),
  Room.tests(
    "SyncClientTests",
    [
      "CVivariumSQLite", "ChangeTracker", "StorageCoordination", "StorageInterface", "StorageLMDB", "StorageMemory", "StoreValues",
      "SyncClient", "SyncModel", "SyncProtocol", "SyncServer", "SyncSimulation", "Vivarium", "VivariumTestSupport",
    ]),
  Room.tests(
    "NotificationsTests",
    [
      "ChangeTracker", "Notifications", "StorageInterface", "StorageReference", "StoreValues", "VivariumTestSupport",
      logging,
    ]),
  Room.tests(
    "VivariumTests",
    ["QueryEngine", "QueryModel", "StorageInterface", "StoreValues", "Vivarium", "VivariumTestSupport"]),
  Room.tests(
    "MacroExpansionsTests",
    ["MacroExpansions", .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax")]),
  Room.tests(
    "IntegrationTests",
    [
      "QueryEngine", "QueryModel", "ResultsControl", "StorageInterface", "StorageLMDB", "StorageMemory",
      "StorageSQLite", "StoreInspection", "StoreValues", "Vivarium", "VivariumTestSupport",
    ]),
  Room.tests(
    "ErrorTests",
    [
      "CVivariumSQLite", "ColumnStore", "QueryEngine", "QueryModel", "ResultsControl", "StorageEncryption", "StorageInterface",
      "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreOperations", "StoreValues", "Vivarium", "VivariumTestSupport",
    ]),
  Room.tests("StoreOperationsTests", ["StorageMemory", "StoreOperations", "Vivarium", "VivariumTestSupport"]),
  Room.tests(
    "ResultsControlTests",
    ["ChangeTracker", "ResultsControl", "StorageMemory", "StoreValues", "Vivarium", "VivariumTestSupport"]),
  Room.tests("StoreReactiveTests", ["StorageMemory", "StoreReactive", "Vivarium", "VivariumTestSupport", openCombine]),
  Room.support("MessageSamples", ["StorageLMDB", "StoreMessages", "Vivarium"]),
  Room.program(
    "message-child",
    ["MessageSamples", "StorageLMDB", "StoreMessages", "Vivarium", "VivariumTestSupport"], path: "Tests/MessageChild"),
  Room.tests(
    "StoreMessagesTests",
    [
      "MessageSamples", "StorageInterface", "StorageLMDB", "StorageMemory", "StoreMessages", "Vivarium", "VivariumTestSupport",
      "message-child",
    ]),
  Room.tests("DemoProgramTests", ["VivariumTestSupport", "vivarium-demo"]),
  Room.tests("TasksProgramTests", ["VivariumTestSupport", "vivarium-tasks"]),
  Room.tests(
    "StoreInspectionTests",
    [
      "QueryModel", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageReference", "StorageSQLite",
      "StoreInspection", "StoreValues", "VivariumTestSupport",
    ]),
  Room.tests(
    "InspectProgramTests",
    [
      "CVivariumSQLite", "ChangeTracker", "ColumnStore", "StorageInterface", "StorageLMDB", "StorageSQLite", "StoreInspection",
      "StoreValues", "VivariumTestSupport", "inspect",
    ]),
  Room.tests(
    "ModelTests",
    [
      "StorageConformance", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite", "StoreValues",
      "VivariumTestSupport",
    ]),
  Room.support(
    "CrashSamples",
    [
      "ChangeTracker", "StorageEncryption", "StorageIncrements", "StorageInterface", "StorageLMDB", "StorageSQLite", "StoreValues",
      "VivariumTestSupport",
    ]),
  Room.support("PowerCut", []),
  Room.program(
    "power-cut-child",
    ["CrashSamples", "PowerCut", "StorageIncrements", "StorageInterface", "StoreValues", "VivariumTestSupport"],
    path: "Tests/PowerCutChild"),
  Room.tests("PowerCutTests", ["CrashSamples", "StorageInterface", "StoreValues", "VivariumTestSupport", "power-cut-child"]),
  Room.support("ClockJump", []),
  Room.program(
    "clock-child",
    [
      "ClockJump", "MessageSamples", "StorageCoordination", "StorageInterface", "StorageLMDB", "StorageMemory", "StorageSQLite",
      "StoreMessages", "Vivarium", "VivariumTestSupport",
    ], path: "Tests/ClockChild"),
  Room.tests("ClockTests", ["VivariumTestSupport", "clock-child"]),
  Room.program("watch-child", ["StorageLMDB", "StorageSQLite", "Vivarium"], path: "Tests/WatchChild"),
  Room.tests("ObservationTests", ["StorageLMDB", "StorageSQLite", "Vivarium", "VivariumTestSupport", "watch-child"]),
  Room.program(
    "crash-child",
    [
      "CVivariumLMDB", "CVivariumSystem", "CrashSamples", "StorageCoordination", "StorageIncrements", "StorageInterface",
      "StorageSQLite", "StoreValues", "VivariumTestSupport",
    ],
    path: "Tests/CrashChild"),
  Room.program(
    "damage-child",
    ["StorageEncryption", "StorageInterface", "StorageLMDB", "StorageSQLite", "StoreInspection", "StoreValues", "VivariumTestSupport"],
    path: "Tests/DamageChild"),
  Room.tests("DamageTests", ["VivariumTestSupport", "damage-child"]),
  Room.support("MigrationSamples", ["StorageInterface", "StorageLMDB", "StorageSQLite", "Vivarium"]),
  Room.program(
    "migration-child",
    [
      "MigrationSamples", "StorageInterface", "StoreValues", "Vivarium", "VivariumTestSupport",
    ], path: "Tests/MigrationChild"),
  Room.tests(
    "MigrationCrashTests",
    ["MigrationSamples", "StorageInterface", "Vivarium", "VivariumTestSupport", "migration-child"]),
  Room.tests(
    "CrashTests",
    [
      "CrashSamples", "StorageIncrements", "StorageInterface", "StorageLMDB", "StorageSQLite", "StoreValues", "VivariumTestSupport",
      "crash-child",
    ]),
]

/// What people choose: the database, an engine, the parts that stand alone, the companions.
let chosen = [
  "Vivarium", "StorageMemory", "StorageLMDB", "StorageSQLite", "StorageEncryption", "QueryEngine", "ChangeTracker", "Notifications",
  "StoreInspection", "StoreOperations", "ResultsControl", "StoreReactive", "StoreMessages", "SyncModel", "SyncProtocol",
  "SyncServer", "SyncStoreEmbedded", "SyncStorePostgres", "SyncClient",
  "SyncWebSocket", "SyncTokens", "SyncManagement", "SyncEvents",
]
/// What the author of an engine takes: the interface, what stands on it, and the suite that an engine has to pass.
let storageKit: Product = .library(
  name: "StorageKit",
  targets: [
    "StoreValues", "QueryModel", "StorageInterface", "StorageCoordination", "ColumnStore", "StorageConformance",
  ])

let package = Package(
  name: "Vivarium",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: chosen.map { .library(name: $0, targets: [$0]) } + [storageKit],
  traits: [
    .trait(name: "Sync", description: "Replication over the network: WebSocket, and the server."),
    .trait(name: "Encryption", description: "Files that are encrypted, with swift-crypto."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: targets
)
