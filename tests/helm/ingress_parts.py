"""ingress_parts.py VALUES ANNOTATIONS FOLDER - what the ingress' controller would take out of our values, a file each in FOLDER.

global, frontend, aux: snippets as they stand; backend, maxconn: a Service's; defaults, balance: what the keys of config become;
args: the side-car's, one a line; etc: where the SPOE file is wanted."""
import os
import sys

import yaml

values, annotations, folder = sys.argv[1:4]
with open(values, encoding="utf-8") as file:
    controller = yaml.safe_load(file)["controller"]
with open(annotations, encoding="utf-8") as file:
    service = yaml.safe_load(file)["metadata"]["annotations"]
config = controller["config"]
sidecar = (controller.get("extraContainers") or [{"args": []}])[0]

parts = {
    "global": config["global-config-snippet"],
    "frontend": config["frontend-config-snippet"],
    "aux": controller["auxiliaryConfig"],
    "backend": service["haproxy.org/backend-config-snippet"],
    "defaults": "".join("timeout %s %s\n" % (key[8:], value) for key, value in config.items() if key.startswith("timeout-")),
    "balance": "balance %s\n%soption abortonclose\n" % (config["load-balance"], "" if config["abortonclose"] == "true" else "no "),
    "maxconn": "maxconn %s" % service["haproxy.org/pod-maxconn"],
    "args": "".join(word + "\n" for word in sidecar["args"]),
    "etc": controller["extraVolumeMounts"][0]["mountPath"] + "\n",
}
os.makedirs(folder, exist_ok=True)
for name, text in parts.items():
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
