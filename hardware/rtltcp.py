"""An RTL-SDR behind `rtl_tcp`, on this machine or another.

    rtltcp:127.0.0.1:1234?freq=433.92M&rate=1.024M&gain=30

The stream is bare bytes: the server drops samples silently when its buffers are full. Here that is only
time without samples, so a loss is estimated from the clock.
"""

import socket
import struct
import threading

from hardware.abilities import within
from hardware.address import Address, parse_host, parse_port
from hardware.live import SILENCE_S, LiveSource
from hardware.samples import to_complex
from hardware.soapy_api import TIMEOUT, Range, Read
from hardware.tuning import AUTO, parse_gain
from streaming import quantities
from streaming.block import Samples
from streaming.errors import ConfigError, FormatError, SourceError

PORT = 1234
RATE_HZ = 2.048e6  # the server's own default, but it does not report it, so it is always set
CONNECT_S = 2.0
RATES_HZ = [Range(225_001, 300_000), Range(900_001, 3_200_000)]  # what an RTL2832U can do
FREQS_HZ = [Range(1, 2**32 - 1)]
GAINS_DB = [Range(-10, 60)]
SET_FREQ, SET_RATE, SET_MANUAL_GAIN, SET_GAIN, SET_PPM, SET_AGC = 1, 2, 3, 4, 5, 8


def open(address: Address) -> "RtlTcpSource":
    """Connect to the server and set its radio."""
    options = address.options
    where = f"{address.scheme}:{address.target}"
    name, _, port = (
        address.target.rpartition(":") if ":" in address.target else (address.target, "", str(PORT))
    )
    host = parse_host(name, f"the host of source {where}")
    number = parse_port(port, f"the port of source {where}")
    rate_hz = options.number("rate", quantities.RATE_HZ, RATE_HZ)
    freq_hz = options.number("freq", quantities.FREQ_HZ)
    gain = options.text("gain", AUTO) or AUTO
    ppm = options.number("ppm", quantities.PPM, 0.0)
    agc = options.flag("agc")
    silence_s = options.number("silence", quantities.SECONDS, SILENCE_S)
    options.done()
    within("rate", rate_hz, RATES_HZ, where)
    commands = {SET_RATE: round(rate_hz), SET_PPM: round(ppm), SET_AGC: int(agc)}
    return RtlTcpSource(
        where,
        (host, number),
        rate_hz=rate_hz,
        commands=commands,
        freq_hz=freq_hz,
        gain=gain,
        silence_s=silence_s,
    )


class RtlTcpSource(LiveSource):
    """The client of one rtl_tcp server."""

    def __init__(
        self,
        where: str,
        server: tuple[str, int],
        *,
        rate_hz: float,
        commands: dict[int, int],
        freq_hz: float | None,
        gain: float | str,
        silence_s: float,
    ) -> None:
        super().__init__(where, float(round(rate_hz)), silence_s)
        self._server = server
        self._commands = commands  # command -> value: the state of the radio, sent again after a loss
        self._setting = threading.Lock()
        self._socket: socket.socket | None = None
        self._raw = bytearray(2 * len(self._buffer))
        self._odd = 0  # bytes of half a sample, left over from the last read
        self.retune(freq_hz, gain)
        self._connect()

    def retune(self, freq_hz: float | None = None, gain: float | str | None = None) -> None:
        changed: dict[int, int] = {}
        if freq_hz is not None:
            within("freq", freq_hz, FREQS_HZ, self.address)
            changed[SET_FREQ] = round(freq_hz)
        if gain is not None:
            wanted = parse_gain(gain, self.address)
            if isinstance(wanted, dict):
                raise ConfigError(f"option gain of {self.address}: rtl_tcp has one gain, in dB or auto")
            changed[SET_MANUAL_GAIN] = int(wanted != AUTO)
            if not isinstance(wanted, str):
                within("gain", wanted, GAINS_DB, self.address)
                changed[SET_GAIN] = round(10 * wanted)
        with self._setting:
            if self._socket is not None:  # else all is sent when it comes back
                self._send(self._socket, changed)
            self._commands |= changed
            self.freq_hz = float(self._commands[SET_FREQ]) if SET_FREQ in self._commands else None

    def _send(self, connection: socket.socket, commands: dict[int, int]) -> None:
        message = b"".join(struct.pack(">BI", code, value & 0xFFFFFFFF) for code, value in commands.items())
        try:
            connection.sendall(message)
        except OSError as error:
            raise SourceError(f"{self.address}: {error.strerror or error}") from None

    def _connect(self) -> None:
        try:
            connection = socket.create_connection(self._server, CONNECT_S)
        except OSError as error:
            raise SourceError(f"{self.address}: no connection ({error.strerror or error})") from None
        try:
            self._greet(connection)
            connection.settimeout(0.1)
            with self._setting:
                self._send(connection, self._commands)
                self._socket, self._odd = connection, 0
        except BaseException:
            connection.close()
            raise

    def _greet(self, connection: socket.socket) -> None:
        header = b""
        try:
            while len(header) < 12 and (more := connection.recv(12 - len(header))):
                header += more
        except OSError as error:
            raise SourceError(
                f"{self.address}: no header from the server ({error.strerror or error})"
            ) from None
        if len(header) < 12:
            raise SourceError(f"{self.address}: the server hung up; it serves one client at a time")
        if header[:4] != b"RTL0":
            raise FormatError(
                f"{self.address} is not an rtl_tcp server: it begins with {header[:4]!r}, not b'RTL0'"
            )

    def _read(self, buffer: Samples) -> Read:
        assert self._socket is not None
        view = memoryview(self._raw)[: 2 * len(buffer)]
        try:
            got = self._socket.recv_into(view[self._odd :])
        except TimeoutError:
            return Read(TIMEOUT, None)
        except OSError as error:
            raise SourceError(error.strerror or str(error)) from None
        if got == 0:
            raise SourceError("the server hung up")
        count, odd = divmod(self._odd + got, 2)
        buffer[:count] = to_complex(view[: 2 * count], "cu8")
        if odd:
            self._raw[0] = self._raw[2 * count]
        self._odd = odd
        return Read(count, None)

    def _release(self) -> None:
        with self._setting:
            connection, self._socket = self._socket, None
            if connection is not None:
                connection.close()
