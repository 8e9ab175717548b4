#!/usr/bin/env python3
"""check.py PROGRAM - what *.md says of the project is there: links and anchors, paths, metrics, options, settings, whole policies."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = (".ci", "dashboards", "debian", "docs", "haproxy", "helm", "policies", "redis", "spoa", "tests")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"(?<![\w/.{-])((?:%s)/[\w./-]*)" % "|".join(map(re.escape, ROOMS)))
METRIC = re.compile(r"(?<![\w:.])(?:inference_spoa_[a-z0-9_]+|[a-z0-9_]+_(?:total|seconds|ratio)|process_[a-z_]+)(?![\w:])")
faults = set()


def printed(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def anchors(text):
    """Of each heading, as GitHub makes them: small letters, no punctuation, a dash for each space."""
    titles = re.findall(r"^#+ +(.+?)$", FENCE.sub("", text), re.M)
    return [re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", x).lower()).replace(" ", "-") for x in titles]


def links(page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text)):
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(os.path.join(ROOT, target)):
            yield f"link to no file: {link}"
        elif anchor and anchor not in anchors(pages.get(target, "")):
            yield f"link to no heading: {link}"


def paths(code):
    """From the root, or from tests/ as requirements.md has them; without an ending, or cut at a wildcard, any that begins so."""
    for path in PATH.findall(code):
        found = [x for top in (ROOT, ROOT + "/tests") for x in glob.glob(f"{top}/{path}" + ("" if "." in path else "*"))]
        if not found and path != "spoa/relay/":  # which is for later
            yield f"no such path: {path}"


def metric_names(code):
    for name in METRIC.findall(code):
        if not {name, "inference_spoa_" + name, re.sub("_(bucket|sum|count)$", "", name)} & metrics:
            yield f"no such metric: {name}"


def options(code):
    for command, words in re.findall(r"(?:^|\binference-spoa )(%s)(?!\S)([^|;&>\n]*)" % "|".join(helps), code, re.M):
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", words):
            if option not in re.findall(r"--[a-z-]+", helps[command]) and option != "--help":
                yield f"{command} has no option {option}"


def settings(code):
    """Of a policy or of the chart, with their group: redis.memory, models.NAME.profile."""
    words = code.split(".")
    if re.fullmatch(r"[a-z][a-z0-9-]*(\.[A-Za-z0-9-]+)+", code) and words[0] in groups and words[-1] not in ("cfg", "json", "map"):
        for word in words:
            if f'"{word}":' not in schema + chart and not word.isupper():
                yield f"no such setting: {code}"


def policies(code):
    """A whole policy, or a member of one."""
    for text in (code, "{" + code + "}"):
        try:
            policy = json.loads(text)
        except ValueError:
            continue
        if isinstance(policy, dict) and policy and set(policy) <= keys:
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(text)
                file.flush()
                ran = subprocess.run([PROGRAM, "check", "-c", file.name], capture_output=True, text=True)
            if ran.returncode:
                yield f"refused policy: {text}\n{ran.stdout}{ran.stderr}"


PROGRAM = os.path.abspath(sys.argv[1])
pages = {}
for path in glob.glob(ROOT + "/*.md") + [x for room in ROOMS for x in glob.glob(f"{ROOT}/{room}/**/*.md", recursive=True)]:
    with open(path, encoding="utf-8") as file:
        pages[os.path.relpath(path, ROOT)] = file.read()
metrics = set(re.findall(r"^\| `(\w+)`", printed("metrics"), re.M))
helps = {x: printed(x, "--help") for x in re.findall(r"^  ([a-z]+) ", printed("--help"), re.M)}
schema = printed("schema")
with open(ROOT + "/helm/inference-spoa/values.schema.json", encoding="utf-8") as file:
    chart = file.read()
definitions = json.loads(schema)["definitions"]
keys = set(definitions["policy"]["properties"])
groups = keys | set(definitions["defaults"]["properties"])
codes = 0
for page, text in pages.items():
    faults |= {f"{page}: {x}" for x in links(page, text)}
    for code in [x[1] for x in FENCE.findall(text)] + SPAN.findall(FENCE.sub("", text)):
        codes += 1
        for look in (paths, metric_names, options, settings, policies):
            faults |= {f"{page}: {x}" for x in look(code)}
print("\n".join(sorted(faults)) or f"{len(pages)} pages, {codes} pieces of code: all of it is there")
sys.exit(1 if faults else 0)
