"""schemas.py VERSION FOLDER - Kubernetes' schemas of kubernetes-validate, as files that kubeconform reads: without references.

kubeconform looks each reference up as a place of its own; here they are put in. JSONSchemaProps, which hold themselves, stay open."""
import glob
import json
import os
import sys

import kubernetes_validate

version, folder = sys.argv[1:3]
source = glob.glob(os.path.join(os.path.dirname(kubernetes_validate.__file__), "kubernetes-json-schema", "v%s.*-local-strict" % version))[0]
os.makedirs(folder)
with open(os.path.join(source, "_definitions.json"), encoding="utf-8") as file:
    definitions = json.load(file)["$defs"]


def whole(part, inside=()):
    if isinstance(part, list):
        return [whole(item, inside) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        name = part["$ref"].split("/")[-1]
        return {} if name in inside else whole(definitions[name], inside + (name,))
    return {key: whole(value, inside) for key, value in part.items()}


for kind in ("configmap-v1", "service-v1", "serviceaccount-v1", "pod-v1", "deployment-apps-v1", "poddisruptionbudget-policy-v1",
             "networkpolicy-networking-v1", "horizontalpodautoscaler-autoscaling-v2"):
    with open(os.path.join(source, kind + ".json"), encoding="utf-8") as file:
        schema = whole(json.load(file))
    with open(os.path.join(folder, kind + ".json"), "w", encoding="utf-8") as file:
        json.dump(schema, file)
