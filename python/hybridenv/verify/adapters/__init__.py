"""Adapters: one for each kind of environment that can be verified, and the names they go by."""

from hybridenv.verify.adapters._resolve import adapt, resolve

__all__ = ["adapt", "resolve"]
