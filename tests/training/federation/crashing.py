"""A coordinator that kills itself: `python -m ...crashing STATE before|after|files ARGV...`.

It dies just before or just after the first transition to STATE is on the disk, or between the files of
aggregation and their rows. With the state FULL and a path,
its disk is full while there is such a file.
"""

import errno
import os
import signal
import sys

from service import cli
from training.federation.coordinator.models import Models
from training.federation.coordinator.rounds import Coordinator

state, when = sys.argv[1:3]
commit, add = Coordinator.commit, Models.add


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def crash_at_commit(self, entered, *statements):
    if entered == state and when == "before":
        die()
    commit(self, entered, *statements)
    if entered == state and when == "after":
        die()


def crash_at_files(self, *args):
    statements = add(self, *args)
    if when == "files":
        die()
    return statements


real_fsync = os.fsync


def fsync(handle):
    if state == "FULL" and os.path.exists(when):
        raise OSError(errno.ENOSPC, "No space left on device")
    real_fsync(handle)


os.fsync = fsync
Coordinator.commit = crash_at_commit
Models.add = crash_at_files

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[3:]))
