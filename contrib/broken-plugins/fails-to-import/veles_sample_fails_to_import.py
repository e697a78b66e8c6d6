"""Imports something that isn't there."""

import a_module_that_nobody_has_installed  # noqa: F401
