"""Print what completes wavetell's commands and flags in a shell.

examples:
  source <(wavetell completion bash)
  source <(wavetell completion zsh)
  wavetell completion fish > ~/.config/fish/completions/wavetell.fish
"""

import argparse
from pathlib import Path

FILES = {"bash": "wavetell.bash", "zsh": "wavetell.bash", "fish": "wavetell.fish"}  # zsh reads bash's


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("shell", choices=FILES, help="the shell it is for")


def run(args: argparse.Namespace) -> None:
    """Print the script; `make docs` makes it from the commands."""
    print((Path(__file__).parent.parent / "shell" / FILES[args.shell]).read_text(), end="")
