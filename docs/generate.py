"""Makes the reference pages that come from the code: `make docs`; with `--check` says whether they are stale.

docs/rest.md    below its last hand-written section: every request, from the OpenAPI document
docs/python.md  the classes and functions for programs of one's own, from signatures and docstrings
service/shell/  the manual page and the shell completions, from the commands' help (docs/shell.py)
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIWebSocketRoute

from docs import shell
from service.web.app import ROUTERS

HERE = Path(__file__).parent
MADE = "<!-- Made from the code by `make docs`. What is below is overwritten. -->\n"
METHODS = ("get", "post", "put", "patch", "delete")
# Section -> names, in the order in which a program uses them.
PYTHON = {
    "Sources": (
        "hardware.open_source",
        "hardware.source.Source",
        "hardware.source.Counts",
        "streaming.block.Block",
    ),
    "Models": (
        "streaming.bundle.load_bundle",
        "streaming.bundle.Bundle",
        "streaming.pipeline.choose_head",
        "streaming.head.Head",
    ),
    "Live answers": (
        "streaming.engine.open_engine",
        "streaming.pipeline.open_pipeline",
        "streaming.band.pipeline.BandPipeline",
        "streaming.band.emissions.Emission",
        "streaming.prediction.Prediction",
        "service.schemas.answers.Answer",
        "streaming.report.open_reporter",
    ),
    "Below the pipeline": (
        "streaming.band.frontend.Band",
        "streaming.band.frontend.Piece",
        "streaming.engine.Engine",
        "streaming.engine.Stream",
        "streaming.window.Window",
        "streaming.features.describe",
    ),
    "Own models": ("training.datasets.open_dataset", "training.heads.fit.fit_head"),
}


def rest() -> str:
    """Every request and every object of the REST interface."""
    app = FastAPI()
    for module in ROUTERS:
        app.include_router(module.router)
    document = app.openapi()
    lines = [MADE]
    tag = ""
    for path, methods in document["paths"].items():
        for method in filter(methods.__contains__, METHODS):
            operation = methods[method]
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                lines.append(f"### {tag}\n")
            lines += request(method.upper(), path, operation)
    lines.append("### WebSockets\n")
    for route in app.routes:
        if isinstance(route, APIWebSocketRoute):
            lines.append(f"**`{route.path}`** {text(route.endpoint)}\n")
    lines.append("### Objects\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        if "properties" in schema and not name.startswith(("HTTPValidation", "Validation")):
            lines.append(f"#### {name}\n\n{schema.get('description', '')}\n")
            lines += table(("field", "type", ""), map(list, fields(schema)))
    return "\n".join(lines)


def request(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    """What one request takes and gives."""
    yield f"**`{method} {path}`** {operation.get('description', '')}\n"
    parameters = [
        [f"`{p['name']}`", kind(p["schema"]), described(p["schema"] | p)]
        for p in operation.get("parameters", [])
        if p["in"] == "query"
    ]
    yield from table(("parameter", "type", ""), parameters) if parameters else ()
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Takes {kind(content['schema'])} as `{media}`.\n"
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items():
            if status.startswith("2"):
                shape = f"{kind(content['schema'])} as " if content.get("schema") else ""
                yield f"Answers {status} with {shape}`{media}`.\n"


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The fields of an object."""
    for name, about in schema["properties"].items():
        optional = "" if name in schema.get("required", []) else "optional; "
        yield f"`{name}`", kind(about), (optional + described(about)).removesuffix("; ")


def kind(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if "items" in schema else "list"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"{kind(schema['additionalProperties'])} by name"
    return str(schema.get("format", schema.get("type", "anything")))


def described(schema: dict[str, Any]) -> str:
    """What is said of a value, and what it is if it is left out."""
    default = schema.get("default")
    said = [schema.get("description", ""), f"default {default}" if default not in (None, "") else ""]
    return "; ".join(filter(None, said))


def table(head: tuple[str, ...], rows: Iterator[list[str]] | list[list[str]]) -> list[str]:
    """A Markdown table as one text."""
    lines = [list(head), ["---"] * len(head), *rows]
    return ["\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines) + "\n"]


INTRODUCTION = """# Python

What your own programs are made of; [examples](../examples) show it at work. Everything is typed.
"""


def python() -> str:
    """The page of classes and functions."""
    lines = [INTRODUCTION, MADE]
    for section, names in PYTHON.items():
        lines.append(f"## {section}\n")
        for name in names:
            module, _, attribute = name.rpartition(".")
            lines += page_of(module, getattr(import_module(module), attribute))
    return "\n".join(lines)


def page_of(module: str, thing: Any) -> Iterator[str]:  # noqa: ANN401
    """A function, or a class with its fields and public methods."""
    source = inspect.getsource(thing)
    node = ast.parse(source).body[0]
    code = [f"from {module} import {thing.__name__}", ""]
    if isinstance(node, ast.ClassDef):
        rows = source.splitlines()
        fields = [row for part in node.body if isinstance(part, ast.AnnAssign) for row in rows_of(part, rows)]
        code += [f"class {node.name}:", *fields] if fields else [f"class {node.name}"]
    else:
        code.append(f"def {call(node)}")
    yield f"### {thing.__name__}\n"
    yield "\n".join(["```python", *code, "```\n"])
    yield f"{text(thing)}\n"
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.FunctionDef) and (part.name == "__init__" or not part.name.startswith("_")):
            said = " ".join((ast.get_docstring(part) or "").split())
            yield f"- `{call(part).replace('__init__', thing.__name__)}`" + f": {said}" * bool(said)
    yield ""


def rows_of(part: ast.AST, rows: list[str]) -> list[str]:
    """The rows of the source that a field takes, with its comment."""
    return rows[part.lineno - 1 : part.end_lineno]  # type: ignore[attr-defined]


def call(node: Any) -> str:  # noqa: ANN401
    """A function's name, arguments and answer as they are written; a property has no arguments."""
    if any(ast.unparse(each) == "property" for each in node.decorator_list):
        return f"{node.name} -> {ast.unparse(node.returns)}"
    node.args.args = [each for each in node.args.args if each.arg not in ("self", "cls")]
    answer = "" if node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    return f"{node.name}({ast.unparse(node.args)}){answer}"


def text(thing: Any) -> str:  # noqa: ANN401
    """The docstring in Markdown: numpydoc's headings in bold, examples as code."""
    words, prompt, example = (inspect.getdoc(thing) or "").partition(">>>")
    words = re.sub(r"^(\w+)\n-+$", r"**\1**\n", words, flags=re.MULTILINE)
    return words + (f"```pycon\n{prompt}{example}\n```" if prompt else "")


def main() -> None:
    """Write the pages, or say which are stale."""
    guide = (HERE / "rest.md").read_text().partition(MADE)[0]
    pages = {HERE / "rest.md": guide + rest(), HERE / "python.md": python()} | shell.pages()
    stale = [path for path, page in pages.items() if not path.exists() or path.read_text() != page]
    names = [str(path.relative_to(HERE.parent)) for path in stale]
    if "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(names)}; run `make docs`" if stale else 0)
    for path, name in zip(stale, names, strict=True):
        path.write_text(pages[path])
        print(name)


if __name__ == "__main__":
    main()
