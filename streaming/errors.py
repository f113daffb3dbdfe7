"""Every error a user can cause or meet.

::

    WavetellError            one line for the user, exit code 2
    ├── ConfigError          a flag, setting or source address that cannot be used
    ├── InputError           samples or a state that the engine or a stage cannot take
    ├── BundleError          a model file that is damaged, foreign or of another format
    ├── BackendError         a back end that cannot run on this machine
    └── SourceError          a source that cannot be opened or cannot go on
        ├── DeviceLost       the radio or peer went away; it may come back
        └── FormatError      a recording or message that is not what it says it is
"""


class WavetellError(Exception):
    """Something the user can understand and mend; the message is one line."""


class ConfigError(WavetellError):
    """A flag, setting or source address that cannot be used."""


class InputError(WavetellError):
    """Samples or a state that the engine or a stage cannot take; nothing was changed."""


class BundleError(WavetellError):
    """A model file that is damaged, foreign or of another format."""


class BackendError(WavetellError):
    """A back end that cannot run on this machine."""


class SourceError(WavetellError):
    """A source that cannot be opened or cannot go on."""


class DeviceLost(SourceError):
    """The radio or peer went away; it may come back."""


class FormatError(SourceError):
    """A recording or message that is not what it says it is."""
