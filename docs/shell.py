"""Makes the manual page and the shell completions from the commands' own help: `make docs`."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from service.cli import ALL, COMMANDS, Parser
from service.settings import SETTINGS

SHELL = Path(__file__).resolve().parent.parent / "service/shell"
EXIT = {
    0: "done; also where the reader of a pipe has seen enough",
    1: "an error of wavetell's own, with a traceback: please report it",
    2: "an error that you can mend; one line on stderr says how",
    130: "ended by Ctrl-C",
}
ENVIRONMENT = {
    "WAVETELL_NAME": "the setting NAME of wavetell config, in capitals; the command line comes before it",
    "WAVETELL_ISA": "the instruction set of the native kernel, such as avx2, neon or portable",
    "NO_COLOR": "where it is set, no colours on a terminal",
}
FILES = {
    "./wavetell.toml, ~/.config/wavetell/wavetell.toml": "settings; the first comes before the second",
    "~/.local/share/wavetell": "everything that the service keeps (the setting data)",
}


@dataclass(frozen=True)
class Command:
    """One command and what its parser takes."""

    name: str
    about: str
    actions: list[argparse.Action]

    @property
    def flags(self) -> list[str]:
        """Its long flags."""
        return [flag for action in self.actions for flag in action.option_strings if flag.startswith("--")]

    @property
    def choices(self) -> dict[str, list[str]]:
        """What may stand behind a flag; behind the empty one, in the place of an argument."""
        return {
            flag: values
            for action in self.actions
            if (values := values_of(action))
            for flag in (action.option_strings or [""])
        }


def values_of(action: argparse.Action) -> list[str]:
    """The values that a flag may have, where they are few; settings know theirs themselves."""
    setting = SETTINGS.get(action.dest)
    return [str(value) for value in action.choices or (setting.metadata["choices"] if setting else ())]


def commands() -> Iterator[Command]:
    """Every command, in the order of the help."""
    for name in ALL:
        module = import_module(f"service.commands.{name}")
        parser = Parser(prog=f"wavetell {name}")
        module.add_arguments(parser)
        yield Command(name, (module.__doc__ or "").strip(), list(parser._actions))


def bash() -> str:
    """For bash; also for zsh, which can read bash's."""
    flags, values = [], []
    for command in commands():
        words = " ".join([*command.choices.get("", []), *command.flags])
        flags.append(f"    {command.name}) words='{words}' ;;")
        values += [
            f"    {command.name}:{flag}) words='{' '.join(choices)}' ;;"
            for flag, choices in command.choices.items()
            if flag
        ]
    return "\n".join(
        [
            "# Made from the code by `make docs`.",
            '[ -z "${ZSH_VERSION-}" ] || { autoload -U +X bashcompinit && bashcompinit; }',
            "_wavetell() {",
            "    local words current=${COMP_WORDS[COMP_CWORD]}",
            f'    [ "$COMP_CWORD" -gt 1 ] || words="{" ".join(ALL)}"',
            '    [ "$COMP_CWORD" -le 1 ] || case ${COMP_WORDS[1]} in',
            *flags,
            "    esac",
            '    [ "$COMP_CWORD" -le 1 ] || case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in',
            *values,
            "    esac",
            '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _wavetell wavetell",
            "",
        ]
    )


def fish() -> str:
    """For fish."""
    lines = ["# Made from the code by `make docs`."]
    for name, line in ALL.items():
        lines.append(f"complete -c wavetell -n __fish_use_subcommand -f -a {name} -d {quoted(line)}")
    for command in commands():
        used = f"complete -c wavetell -n '__fish_seen_subcommand_from {command.name}'"
        if words := command.choices.get(""):
            lines.append(f"{used} -a {quoted(' '.join(words))}")
        for action in command.actions:
            long = [flag[2:] for flag in action.option_strings if flag.startswith("--")]
            if long:
                takes = f" -x -a {quoted(' '.join(values))}" if (values := values_of(action)) else ""
                lines.append(f"{used} -l {long[0]}{takes} -d {quoted(plain(action.help))}")
    return "\n".join([*lines, ""])


def manual() -> str:
    """The manual page, in the macros of man(7)."""
    out = [
        '.\\" Made from the code by `make docs`.',
        ".TH WAVETELL 1",
        ".ad l",
        ".SH NAME",
        "wavetell \\- name the modulation of live radio signals",
        ".SH SYNOPSIS",
        ".B wavetell",
        ".I COMMAND",
        "[options]",
    ]
    by_name = {command.name: command for command in commands()}
    for section, names in COMMANDS.items():
        out.append(f".SH {section.upper()}")
        for name in names:
            out += command_page(by_name[name])
    for title, table in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES), ("EXIT STATUS", EXIT)):
        out.append(f".SH {title}")
        for key, about in table.items():
            out += [".TP", f".B {roff(str(key))}", roff(about)]
    return "\n".join([*out, ""])


def command_page(command: Command) -> Iterator[str]:
    """A command's part of the manual page."""
    about, _, examples = command.about.partition("\nexamples:\n")
    yield f".SS wavetell {command.name}"
    for number, paragraph in enumerate(about.strip().split("\n\n")):
        yield from [".PP"] * (number > 0) + [roff(" ".join(paragraph.split()))]
    for action in command.actions:
        names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        takes = action.option_strings and action.nargs != 0
        value = f" {action.metavar or action.dest.upper()}" if takes else ""
        one_of = f" ({', '.join(values)})" if (values := values_of(action)) else ""
        yield from [".TP", f".B {roff(names + value)}", roff(plain(action.help) + one_of) or "\\&"]
    if examples:
        yield from [".PP", ".nf", *(roff(line) for line in examples.rstrip().splitlines()), ".fi"]


def plain(help: str | None) -> str:
    """A flag's help as one line."""
    return " ".join((help or "").replace("%%", "%").split())


def quoted(text: str) -> str:
    """Text as one word of a shell."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def roff(text: str) -> str:
    """Text as man(7) takes it."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = re.sub(r",(?=\S)", r",\\:", text)  # a list may be broken behind its commas
    return "\\&" + text if text.startswith((".", "'")) else text


def pages() -> dict[Path, str]:
    """Every file that is made here, and what it holds."""
    return {SHELL / "wavetell.1": manual(), SHELL / "wavetell.bash": bash(), SHELL / "wavetell.fish": fish()}
