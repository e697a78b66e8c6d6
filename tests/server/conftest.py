"""The server's tests share their fixtures with those of the tools."""

from tests.serving import client, connect, service, spawn

__all__ = ["client", "connect", "service", "spawn"]
