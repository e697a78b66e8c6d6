"""What a memory means: the service and the rules behind its verbs."""
