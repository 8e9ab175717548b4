"""containerfile.py FILE - a Containerfile's instructions, one a line: its name, a tab, its words as JSON or as they stand.

Comments go, lines that end with \\ are joined: enough for container.sh to do what each of them says."""
import re
import sys

known = {"FROM", "ENV", "RUN", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line for line in file.read().split("\n") if not line.startswith("#")]
for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).split("\n"):
    if not line.strip():
        continue
    name, words = line.split(None, 1)
    if name not in known:
        sys.exit("containerfile.py: container.sh does not know what %s does" % name)
    print("%s\t%s" % (name, words))
