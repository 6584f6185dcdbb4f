"""Notes which functions of a client are called: each once, as `ran NAME`. What the client offers is read from its own source."""
import inspect

ran = set()


class Recorded:
    """The client itself for whoever calls it."""

    def __init__(self, name, client):
        self._name, self._client = name, client

    def __getattr__(self, attribute):
        found = getattr(self._client, attribute)
        if callable(found):
            ran.add("%s.%s" % (self._name, attribute))
        return found


def offered(name, owner):
    """The public functions that this class or module defines itself."""
    home = owner.__name__ if inspect.ismodule(owner) else owner.__module__
    own = [key for key, value in vars(owner).items() if inspect.isfunction(value) and value.__module__ == home]
    return ["%s.%s" % (name, key) for key in own if not key.startswith("_")]


def say(*lists):
    for name in sorted(ran):
        print("ran", name)
    for name in [name for names in lists for name in names]:
        print("offered", name)
