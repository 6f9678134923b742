// Tests get the engine in front of another one with everything else that they share.
@_exported import StorageForwarding
