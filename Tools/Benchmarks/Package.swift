// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the engines we compare ourselves with stay out of the product's build.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Vivarium", path: "../..", traits: ["Encryption"]),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CBenchLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CBenchSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .executableTarget(
      name: "vivarium-bench",
      dependencies: [
        "CBenchLMDB", "CBenchSQLite",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Vivarium", package: "Vivarium"),
        .product(name: "StoreOperations", package: "Vivarium"),
        .product(name: "ResultsControl", package: "Vivarium"),
        .product(name: "StorageEncryption", package: "Vivarium"),
        .product(name: "StorageLMDB", package: "Vivarium"),
        .product(name: "StorageMemory", package: "Vivarium"),
        .product(name: "StorageSQLite", package: "Vivarium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // A user's module whose models come last; no program, it has to build for release.
    .target(
      name: "LateModels",
      dependencies: [
        .product(name: "StorageMemory", package: "Vivarium"),
        .product(name: "Vivarium", package: "Vivarium"),
      ]),
  ]
)
