/// Shows which module the name belongs to.
public let testSupport = "the client's TestSupport"
