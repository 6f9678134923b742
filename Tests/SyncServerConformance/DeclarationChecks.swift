import SyncModel
import SyncProtocol
import SyncServer

let declarationChecks: [ServerStoreCheck] = [
  ServerStoreCheck("declarationsAddUp") { bench in
    let stores = bench.stores
    let (text, count) = (SyncSchema(["Note": ["text": "string"]]), SyncSchema(["Note": ["count": "int"], "Tag": [:]]))
    try bench.expect(await stores.declare(Bench.path, SyncSchema()), SyncSchema())
    try bench.expect(await stores.declare(Bench.path, text), text)
    let both = SyncSchema(["Note": ["text": "string", "count": "int"], "Tag": [:]])
    try bench.expect(await stores.declare(Bench.path, count), both)
    try bench.expect(await stores.declare(Bench.path, text), both)
    try bench.expect(await stores.declare(Bench.path, SyncSchema()), both)
    try bench.expect(await bench.head(), .zero, "a declaration is no entry")
  },
  ServerStoreCheck("theFirstDeclarationOfAPropertyStands") { bench in
    let stores = bench.stores
    let first = SyncSchema(["Note": ["text": "string"]])
    _ = try await stores.declare(Bench.path, first)
    try await bench.expectError(.schemaConflict) {
      _ = try await stores.declare(Bench.path, SyncSchema(["Note": ["text": "int", "count": "int"], "Tag": ["name": "string"]]))
    }
    try bench.expect(await stores.declare(Bench.path, SyncSchema()), first, "what was refused changes nothing")
  },
  ServerStoreCheck("aStoreThatIsMadeAnewHasNoDeclarations") { bench in
    let stores = bench.stores
    _ = try await stores.declare(Bench.path, SyncSchema(["Note": ["text": "string"]]))
    try await stores.removeStore(Bench.path)
    try await bench.expectError(.unknownStore) { _ = try await stores.declare(Bench.path, SyncSchema()) }
    try await stores.makeStore(Bench.path)
    try bench.expect(await stores.declare(Bench.path, SyncSchema()), SyncSchema())
  },
  ServerStoreCheck("tooMuchIsNotDeclared") { bench in
    let stores = bench.stores
    let long = String(repeating: "x", count: SyncSchema.mostBytes / 2)
    let first = SyncSchema(["A": [long: "int"]])
    _ = try await stores.declare(Bench.path, first)
    try await bench.expectError(.schemaConflict) { _ = try await stores.declare(Bench.path, SyncSchema(["B": [long: "int"]])) }
    try bench.expect(await stores.declare(Bench.path, SyncSchema()), first)
  },
]
