"""A journal for tests."""


class Kept:
    """A journal that keeps everything."""

    def __init__(self):
        self.runs, self.events, self.emissions = {}, [], []

    def keep(self, run):
        self.runs[run.id] = run

    def follow(self, emission, embedding=None):
        self.emissions.append(emission)

    def publish(self, event):
        self.events.append(event)
