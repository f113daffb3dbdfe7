"""Which sources may be opened over REST: none on files or hosts that the operator did not name.

What the operator writes on the command line is not checked here.
"""

import re
from pathlib import Path

from hardware.address import Address, parse_address
from hardware.file_name import type_prefix
from service.errors import Refused
from service.settings import Settings, listed
from streaming.errors import ConfigError

# Device arguments that choose among the radios of this machine. Others may name files, hosts or plug-ins.
SOAPY_KEYS = {
    "driver",
    "serial",
    "label",
    "index",
    "tuner",
    "type",
    "name",
    "product",
    "manufacturer",
    "version",
}
PLAIN = re.compile(r"[\w .,:=+-]*")
ENDPOINT = re.compile(r"tcp://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):\d+")


def check_source(text: str, values: Settings, data: Path) -> None:
    """Refuse a source address that the settings do not allow over REST."""
    address = parse_address(text)
    if address.scheme not in listed(values.allow_schemes):
        raise Refused(f"scheme {address.scheme!r} is not allowed over REST (setting allow_schemes)")
    if address.scheme == "file":
        check_folder(address, [data / "recordings", *map(Path, listed(values.allow_folders))])
    elif address.scheme == "zmq":
        check_host(zmq_host(address.target), values)
    elif address.scheme == "rtltcp":
        check_host(address.target.rpartition(":")[0] or address.target, values)
    elif address.scheme == "soapy":
        check_radio(address, values)


def check_folder(address: Address, folders: list[Path]) -> None:
    """Refuse a file outside of the allowed folders, links followed."""
    try:
        path = Path(type_prefix(address.target)[1]).resolve()
    except (ValueError, OSError, RuntimeError):
        raise ConfigError("the file's path cannot be used") from None
    if not any(path.is_relative_to(folder.expanduser().resolve()) for folder in folders):
        raise Refused("the file lies outside of the folders allowed over REST (setting allow_folders)")


def zmq_host(endpoint: str) -> str:
    """The host of a ZMQ endpoint; only TCP is allowed, since others reach the file system."""
    match = ENDPOINT.fullmatch(endpoint)
    if not match:
        raise Refused(
            f"endpoint {endpoint!r} is not allowed over REST; it must be such as tcp://127.0.0.1:5555"
        )
    return match[1].strip("[]")


def check_host(host: str, values: Settings) -> None:
    """Refuse a host that is not allowed."""
    if host.strip("[]") not in listed(values.allow_hosts):
        raise Refused(f"host {host!r} is not allowed over REST (setting allow_hosts)")


def check_radio(address: Address, values: Settings) -> None:
    """Refuse device arguments that reach beyond the radios of this machine."""
    for pair in filter(None, address.target.split(",")):
        key, _, value = pair.partition("=")
        if key.strip() == "remote":
            check_host(zmq_host(value), values)
        elif key.strip() not in SOAPY_KEYS or not PLAIN.fullmatch(value):
            raise Refused(f"device argument {pair!r} is not allowed over REST; use the command line")
    for name in ("settings", "stream"):
        if not PLAIN.fullmatch(address.options.values.get(name, "")):
            raise Refused(
                f"option {name} is not allowed over REST with these characters; use the command line"
            )
