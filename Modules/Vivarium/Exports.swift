// What an `import Vivarium` needs from the layers below: values, the configuration and the token.
@_exported import Notifications
@_exported import Observation
@_exported import QueryModel
@_exported import StorageInterface
@_exported import StoreValues
