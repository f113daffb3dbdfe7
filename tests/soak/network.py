"""Faults of what the service talks to: broker, web hook, database, remote radio, and the way to them."""

import signal
import time


def dead_broker(soak):
    """The broker is killed and started again."""
    soak.beside.broker.stop()
    time.sleep(soak.chance.uniform(0.5, 2))
    soak.beside.broker.start()


def slow_broker(soak):
    """The broker does not answer for a while."""
    soak.beside.broker.process.send_signal(signal.SIGSTOP)
    time.sleep(soak.chance.uniform(0.5, 3))
    soak.beside.broker.process.send_signal(signal.SIGCONT)


def delayed_network(soak):
    """Everything to and from the broker is late."""
    soak.beside.broker.proxy.delay_s = soak.chance.uniform(0.1, 1)
    time.sleep(2)
    soak.beside.broker.proxy.delay_s = 0.0


def cut_network(soak):
    """Connections to the broker are broken off again and again."""
    for _ in range(5):
        soak.beside.broker.proxy.cut()
        time.sleep(soak.chance.uniform(0.05, 0.5))


def broken_hook(soak):
    """The web hook answers with an error."""
    soak.beside.hook.status = 500
    time.sleep(soak.chance.uniform(0.5, 2))
    soak.beside.hook.status = 200


def slow_hook(soak):
    """The web hook takes longer than anybody waits."""
    soak.beside.hook.slow_s = 6.0
    time.sleep(soak.chance.uniform(0.5, 2))
    soak.beside.hook.slow_s = 0.0


def dead_database(soak):
    """The database of the second service is stopped and started again."""
    soak.beside.stop_database()
    soak.second_ledger.see_events()
    time.sleep(soak.chance.uniform(0.5, 2))
    soak.beside.start_database()


def slow_database(soak):
    """The database of the second service does not answer for a while."""
    soak.beside.signal_database(signal.SIGSTOP)
    time.sleep(soak.chance.uniform(0.5, 3))
    soak.beside.signal_database(signal.SIGCONT)


def killed_second(soak):
    """kill -9 of the second service."""
    soak.second_ledger.see_events()
    soak.second.stop(signal.SIGKILL)
    soak.second.start()


def lost_radio(soak):
    """The server of the remote radio is killed and comes back; the stream goes on."""
    soak.beside.remote.stop()
    time.sleep(soak.chance.uniform(0.2, 1))
    soak.beside.remote.start()
