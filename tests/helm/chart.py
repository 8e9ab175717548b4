#!/usr/bin/env python3
"""chart.py HELM PROGRAM - the chart, rendered: each values file of ci/ lints, renders and is what Kubernetes' schemas want,
strictly; values that are wrong are refused with their path; what is rendered fits the program: its options, metrics, files.

No cluster and no network are needed. As the Python of get_tools.sh has them: kubernetes-validate, PyYAML."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHART = os.path.join(TREE, "helm/inference-spoa")
KUBERNETES = "1.31.0"
HELM, PROGRAM = "helm", "inference-spoa"
OURS_ELSEWHERE = ("monitoring.coreos.com/", "keda.sh/")  # custom resources: their schemas are not Kubernetes' own


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def helm_template(files=(), values=None, release="r", apis=("monitoring.coreos.com/v1",)):
    words = [HELM, "template", release, CHART, "--namespace", "haproxy", "--kube-version", KUBERNETES]
    for api in apis:
        words += ["--api-versions", api]
    for file in files:
        words += ["-f", file]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as given:
        if values is not None:
            yaml.safe_dump(values, given)
            given.flush()
            words += ["-f", given.name]
        return run(*words)


def rendered(**given):
    done = helm_template(**given)
    if done.returncode:
        raise AssertionError(done.stderr)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def of_kind(documents, kind):
    return [document for document in documents if document["kind"] == kind]


def ci(name):
    return [os.path.join(CHART, "ci", name + "-values.yaml")]


def text_of(name):
    with open(os.path.join(CHART, name), encoding="utf-8") as file:
        return file.read()


DEPLOYMENT = {"mode": "deployment", "haproxy": {"sockets": ["10.0.0.1:9999"]}}


def validate(document):
    if document["apiVersion"].startswith(OURS_ELSEWHERE):
        return
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


class EachValuesFile(unittest.TestCase):
    def test_lints_renders_and_is_valid(self):
        files = sorted(glob.glob(os.path.join(CHART, "ci/*.yaml")))
        self.assertGreaterEqual(len(files), 8)
        for file in files:
            with self.subTest(file=os.path.basename(file)):
                lint = run(HELM, "lint", "--strict", CHART, "-f", file, "--kube-version", KUBERNETES)
                self.assertEqual(lint.returncode, 0, lint.stdout + lint.stderr)
                documents = rendered(files=[file])
                self.assertGreaterEqual(len(documents), 2)
                names = set()
                for document in documents:
                    validate(document)
                    self.assertNotIn((document["kind"], document["metadata"]["name"]), names)
                    names.add((document["kind"], document["metadata"]["name"]))
                    labels = document["metadata"]["labels"]
                    self.assertEqual(labels["app.kubernetes.io/part-of"], "inference-spoa")
                self.no_rights(documents)

    def no_rights(self, documents):
        for document in documents:
            self.assertNotIn("rbac", document["apiVersion"])
            pod = document["spec"] if document["kind"] == "Pod" else document.get("spec", {}).get("template", {}).get("spec")
            if not pod or "containers" not in pod:
                continue
            self.assertIs(pod["automountServiceAccountToken"], False)
            for container in pod["containers"]:
                security = container["securityContext"]
                self.assertTrue(security["readOnlyRootFilesystem"] and security["runAsNonRoot"])
                self.assertFalse(security["allowPrivilegeEscalation"])
                self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
                for mount in container.get("volumeMounts", []):
                    self.assertNotIn("subPath", mount)

    def test_a_second_name_of_the_release_is_in_every_name(self):
        for document in rendered(files=ci("deployment"), release="x" * 50):
            self.assertTrue(document["metadata"]["name"].startswith("x" * 40), document["metadata"]["name"])
            self.assertLessEqual(len(document["metadata"]["name"]), 63)


class WrongValues(unittest.TestCase):
    """The path of the value is in what helm says; helm 3 and 4 write it alike but for the mark between."""
    CASES = [
        ({"modus": "sidecar"}, "modus"),
        ({"mode": "daemonset"}, "mode"),
        ({"haproxy": {"version": "2.4"}}, "haproxy.version"),
        ({"haproxy": {"processingTimeout": "50"}}, "haproxy.processingTimeout"),
        ({"haproxy": {"sockets": ["10.0.0.1:9999"]}}, "haproxy.sockets"),
        ({"mode": "deployment"}, "haproxy.sockets"),
        ({"mode": "deployment", "haproxy": {"sockets": ["/run/haproxy.sock"]}}, "haproxy.sockets.0"),
        ({"networkPolicy": {"enabled": True}}, "networkPolicy.enabled"),
        ({"podDisruptionBudget": {"enable": True}}, "podDisruptionBudget.enable"),
        ({"serviceMonitor": {"enabled": True}}, "serviceMonitor.enabled"),
        (dict(DEPLOYMENT, podMonitor={"enabled": True}), "podMonitor.enabled"),
        ({"options": {"log-levle": "debug"}}, "log-levle"),
        ({"options": {"policy": "/tmp/x"}}, "policy"),
        ({"options": {"log-level": "loud"}}, "options.log-level"),
        ({"redis": {"url": "http://redis"}}, "redis.url"),
        ({"redis": {"url": "redis://user:secret@redis"}}, "redis.url"),
        ({"image": {"digest": "sha256:12"}}, "image.digest"),
        ({"agents": 0}, "agents"),
        ({"ports": {"spop": 80}}, "ports.spop"),
        ({"networkPolicy": {"from": [{"cidr": "10.0.0.0/8"}]}}, "networkPolicy.from.0"),
        ({"autoscaling": {"kind": "vpa"}}, "autoscaling.kind"),
        ({"autoscaling": {"kind": "keda"}}, "autoscaling.targets"),
        ({"autoscaling": {"kind": "keda", "targets": [{"name": "x", "instance": "y"}]}}, "autoscaling.targets.0"),
        ({"autoscaling": {"kind": "keda", "targets": [{"name": "x", "instance": 'a"} or up', "max": 1}]}}, "autoscaling.targets.0"),
        ({"fullnameOverride": "Not_a_name"}, "fullnameOverride"),
    ]

    def test_are_refused_with_their_path(self):
        for values, path in self.CASES:
            with self.subTest(values=values):
                done = helm_template(values=values)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(path, done.stderr.replace("/", "."))


class Policy(unittest.TestCase):
    def test_is_what_the_program_reads(self):
        for values in ({}, {"policy": {"defaults": {"strategy": "prefix-cache"}, "models": {"m": {"instances": ["a_svc_b_1"]}}}}):
            config = [d for d in of_kind(rendered(values=values), "ConfigMap") if d["metadata"]["name"].endswith("-policy")]
            text = config[0]["data"]["policy.json"]
            self.assertEqual(json.loads(text), values.get("policy", {}))
            self.check(text)

    def check(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            done = run(PROGRAM, "check", "--policy", file.name)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_has_the_password_that_a_user_of_the_store_needs(self):
        data = {}
        for document in of_kind(rendered(files=ci("redis")), "ConfigMap"):
            data.update(document["data"])
        policy = json.loads(data["policy.json"])
        policy["redis"]["url"] = data["INFERENCE_SPOA_REDIS"]
        self.assertIn("infer@", policy["redis"]["url"])
        self.check(json.dumps(policy))

    def test_names_the_password_of_redis_beside_what_it_says_of_it(self):
        values = {"redis": {"existingSecret": "s"}, "policy": {"redis": {"space": "blue"}}}
        config = [d for d in of_kind(rendered(values=values), "ConfigMap") if d["metadata"]["name"].endswith("-policy")]
        policy = json.loads(config[0]["data"]["policy.json"])
        self.assertEqual(policy, {"redis": {"space": "blue", "password-file": "/etc/inference-spoa/redis/password"}})

    def test_of_ones_own_is_not_made(self):
        documents = rendered(files=ci("own"))
        self.assertEqual(sorted(d["metadata"]["name"] for d in documents), ["inference-spoa-haproxy", "inference-spoa-options"])


class SpoeFile(unittest.TestCase):
    def spoe(self, **haproxy):
        documents = rendered(values={"haproxy": haproxy})
        return [d for d in documents if d["metadata"]["name"].endswith("-haproxy")][0]["data"]["spoe.cfg"].rstrip("\n")

    def test_is_the_programs_own_for_each_version(self):
        for version in ("2.6", "2.8", "3.0", "3.1", "3.2", "3.4"):
            printed = run(PROGRAM, "haproxy", "spoe", "--for", version).stdout.rstrip("\n")
            self.assertEqual(self.spoe(version=version), printed)

    def test_waits_as_long_as_is_said(self):
        self.assertIn("timeout     processing 80ms\n", self.spoe(processingTimeout="80ms"))

    def test_may_be_another(self):
        self.assertEqual(self.spoe(spoe="[infer]\nspoe-agent infer\n"), "[infer]\nspoe-agent infer")


class Options(unittest.TestCase):
    def test_are_options_of_the_program(self):
        documents = rendered(files=ci("sidecar") + ci("redis"))
        known = set(re.findall(r"^  --([a-z-]+)", run(PROGRAM, "run", "--help").stdout, re.M))
        for option in json.loads(text_of("values.schema.json"))["properties"]["options"]["properties"]:
            self.assertIn(option, known)
        data = [d for d in documents if d["metadata"]["name"].endswith("-options")][0]["data"]
        self.assertEqual(data["INFERENCE_SPOA_LOG_DECISIONS"], "100")
        self.assertEqual(data["INFERENCE_SPOA_OBSERVE"], "false")
        self.assertEqual(data["INFERENCE_SPOA_REDIS"], "redis://infer@valkey.cache.svc:6379/0")
        self.assertIn("redis", known)

    def test_of_every_container_are_taken(self):
        values = yaml.safe_load(text_of("examples/kubernetes-ingress-values.yaml"))
        containers = list(values["controller"]["extraContainers"])
        for deployment in of_kind(rendered(files=ci("deployment")), "Deployment"):
            containers += deployment["spec"]["template"]["spec"]["containers"]
        for pod in of_kind(rendered(files=ci("deployment")), "Pod"):
            containers += pod["spec"]["containers"]
        self.assertEqual(len(containers), 6)
        for container in containers:
            done = run(PROGRAM, *container["args"], "--help")
            self.assertEqual(done.returncode, 0, done.stderr)


class Deployment(unittest.TestCase):
    def test_gives_each_agent_a_service_that_finds_it_alone(self):
        documents = rendered(values=dict(DEPLOYMENT, agents=3))
        services = {d["metadata"]["name"]: d["spec"] for d in of_kind(documents, "Service")}
        pods = [d["spec"]["template"] for d in of_kind(documents, "Deployment")]
        self.assertEqual(len(pods), 3)
        for number in range(3):
            selector = services["r-inference-spoa-%d" % number]["selector"].items()
            self.assertEqual(sum(selector <= pod["metadata"]["labels"].items() for pod in pods), 1)
        all_of_them = services["r-inference-spoa"]
        self.assertEqual(all_of_them["clusterIP"], "None")
        self.assertTrue(all(all_of_them["selector"].items() <= pod["metadata"]["labels"].items() for pod in pods))

    def test_is_asked_by_each_haproxy_at_a_port_of_its_own(self):
        documents = rendered(files=ci("deployment"))
        container = of_kind(documents, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]
        pairs = [word for word in container["args"] if word.startswith(("--haproxy", "--spop"))]
        self.assertEqual(pairs, ["--haproxy=10.0.0.10:9999", "--spop=0.0.0.0:9000", "--haproxy=10.0.0.11:9999", "--spop=0.0.0.0:9001"])
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for service in of_kind(documents, "Service")[1:]:
            asked = {port["port"]: ports[port["targetPort"]] for port in service["spec"]["ports"] if port["name"].startswith("spop")}
            self.assertEqual(asked, {9000: 9000, 9001: 9001})

    def test_takes_lines_by_both_protocols(self):
        service = of_kind(rendered(values=dict(DEPLOYMENT, agents=1)), "Service")[-1]
        lines = [port.get("protocol", "TCP") for port in service["spec"]["ports"] if port["port"] == 9514]
        self.assertEqual(sorted(lines), ["TCP", "UDP"])

    def test_names_every_port_that_is_probed_or_served(self):
        for document in of_kind(rendered(files=ci("deployment")), "Deployment"):
            container = document["spec"]["template"]["spec"]["containers"][0]
            named = {port["name"] for port in container["ports"]}
            self.assertTrue(all(len(name) <= 15 for name in named))
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.assertIn(container[probe]["httpGet"]["port"], named)

    def test_restarts_for_options_and_not_for_a_policy(self):
        def annotations(**more):
            document = of_kind(rendered(values=dict(DEPLOYMENT, **more)), "Deployment")[0]
            return document["spec"]["template"]["metadata"]["annotations"]
        self.assertEqual(annotations(), annotations(policy={"defaults": {"strategy": "random"}}))
        self.assertNotEqual(annotations(), annotations(options={"log-level": "debug"}))

    def test_budget_is_one_of_the_two(self):
        budget = of_kind(rendered(files=ci("deployment")), "PodDisruptionBudget")[0]["spec"]
        self.assertEqual((budget["maxUnavailable"], "minAvailable" in budget), (0, False))
        budget = of_kind(rendered(values=dict(DEPLOYMENT, podDisruptionBudget={"enable": True})), "PodDisruptionBudget")[0]["spec"]
        self.assertEqual((budget["minAvailable"], "maxUnavailable" in budget), (1, False))

    def test_network_policy_lets_in_and_out_what_is_named(self):
        policy = of_kind(rendered(files=ci("networkpolicy")), "NetworkPolicy")[0]["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual([[p["port"] for p in rule["ports"]] for rule in policy["ingress"]],
                         [["spop-0", "infer-log", "infer-log-udp", "infer-admin"], ["infer-admin"]])
        self.assertEqual([[p["port"] for p in rule["ports"]] for rule in policy["egress"]], [[53, 53], [9999], [8000, 30000], [6379]])
        self.assertTrue(all("to" in rule for rule in policy["egress"][1:]))
        nobody = rendered(values=dict(DEPLOYMENT, networkPolicy={"enabled": True}))
        self.assertEqual(of_kind(nobody, "NetworkPolicy")[0]["spec"]["ingress"], [])

    def test_redis_password_is_mounted(self):
        pod = of_kind(rendered(files=ci("redis")), "Deployment")[0]["spec"]["template"]["spec"]
        self.assertIn({"name": "redis", "secret": {"secretName": "valkey-password"}}, pod["volumes"])
        self.assertIn("/etc/inference-spoa/redis", [m["mountPath"] for m in pod["containers"][0]["volumeMounts"]])

    def test_pod_tests_ask_each_agent(self):
        pod = of_kind(rendered(values=dict(DEPLOYMENT, agents=2)), "Pod")[0]
        self.assertEqual(pod["metadata"]["annotations"]["helm.sh/hook"], "test")
        self.assertEqual([c["args"][1] for c in pod["spec"]["containers"]],
                         ["--policy=/etc/inference-spoa/policy/policy.json", "--spop=r-inference-spoa-0:9000", "--spop=r-inference-spoa-1:9000"])


class Sidecar(unittest.TestCase):
    def test_has_neither_workload_nor_service(self):
        kinds = {d["kind"] for d in rendered(files=ci("monitoring"))}
        self.assertEqual(kinds, {"ConfigMap", "PodMonitor", "PrometheusRule", "Pod"})

    def test_ingress_values_name_the_charts_own_objects(self):
        values = yaml.safe_load(run(PROGRAM, "haproxy", "ingress", "--name", "other").stdout)["controller"]
        made = {d["metadata"]["name"] for d in rendered(values={"fullnameOverride": "other"})}
        wanted = {v["configMap"]["name"] for v in values["extraVolumes"] if "configMap" in v}
        wanted.add(values["extraContainers"][0]["envFrom"][0]["configMapRef"]["name"])
        self.assertLessEqual(wanted, made)

    def test_ingress_values_make_a_valid_pod(self):
        values = yaml.safe_load(text_of("examples/kubernetes-ingress-values.yaml"))["controller"]
        self.assertTrue(all(isinstance(value, str) for value in values["config"].values()))
        controller = {"name": "controller", "image": "x", "env": values["extraEnvs"], "volumeMounts": values["extraVolumeMounts"]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ingress"},
               "spec": {"containers": [controller] + values["extraContainers"],
                        "volumes": values["extraVolumes"] + [{"name": "tmp", "emptyDir": {"medium": "Memory"}}]}}
        validate(pod)
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        for container in pod["spec"]["containers"]:
            for mount in container["volumeMounts"]:
                self.assertIn(mount["name"], volumes)
                self.assertIn(mount.get("subPath"), (None, "run"))
        self.assertNotIn("readinessProbe", values["extraContainers"][0])

    def test_service_annotations_make_a_valid_service(self):
        given = yaml.safe_load(text_of("examples/service-annotations.yaml"))
        validate({"apiVersion": "v1", "kind": "Service", "metadata": dict(given["metadata"], name="llama"),
                  "spec": {"ports": [{"port": 8000}]}})
        self.assertIn("use-server %[var(txn.infer.replica)]", given["metadata"]["annotations"]["haproxy.org/backend-config-snippet"])


class Monitoring(unittest.TestCase):
    def test_needs_its_custom_resources(self):
        kinds = {d["kind"] for d in rendered(files=ci("monitoring"), apis=())}
        self.assertEqual(kinds, {"ConfigMap", "Pod"})

    def test_keeps_our_label_instance(self):
        for name, kind, key in (("monitoring", "PodMonitor", "podMetricsEndpoints"), ("monitoring-deployment", "ServiceMonitor", "endpoints")):
            endpoint = of_kind(rendered(files=ci(name)), kind)[0]["spec"][key][0]
            self.assertTrue(endpoint["honorLabels"])
            self.assertEqual(endpoint["port"], "infer-admin")
            self.assertEqual(endpoint["relabelings"][0], {"targetLabel": "job", "replacement": "inference-spoa"})

    def test_rules_and_dashboard_are_the_trees_own(self):
        documents = rendered(files=ci("monitoring"))
        self.assertEqual(of_kind(documents, "PrometheusRule")[0]["spec"], yaml.safe_load(text_of("../../dashboards/alerts.yml")))
        dashboard = [d for d in documents if d["metadata"]["name"].endswith("-dashboards")][0]
        self.assertEqual(json.loads(dashboard["data"]["inference-spoa-overview.json"]),
                         json.loads(text_of("../../dashboards/overview.json")))
        self.assertEqual(dashboard["metadata"]["labels"]["grafana_dashboard"], "1")


class Autoscaling(unittest.TestCase):
    def known(self, text):
        metrics = set(re.findall(r"^\| `([a-z_]+)`", run(PROGRAM, "metrics").stdout, re.M))
        used = set(re.findall(r"inference_spoa_[a-z_]+", text))
        self.assertTrue(used)
        self.assertLessEqual(used, metrics)

    def test_keda_asks_for_what_agents_tell(self):
        objects = of_kind(rendered(files=ci("keda")), "ScaledObject")
        self.known(json.dumps(objects))
        first, second = (o["spec"] for o in objects)
        self.assertEqual((first["minReplicaCount"], first["maxReplicaCount"], first["scaleTargetRef"]["kind"]), (0, 8, "Deployment"))
        self.assertEqual(first["triggers"][0]["metadata"]["query"],
                         'max(inference_spoa_instance_saturation_ratio{instance="ai_svc_llama_8000"})')
        self.assertEqual((first["triggers"][0]["metricType"], first["triggers"][0]["metadata"]["threshold"]), ("Value", "0.8"))
        self.assertTrue(first["triggers"][1]["metadata"]["query"].startswith("sum("))
        self.assertEqual((second["scaleTargetRef"]["kind"], second["triggers"][0]["metadata"]["threshold"],
                          second["triggers"][1]["metadata"]["threshold"]), ("StatefulSet", "0.7", "8"))

    def test_queues_that_several_agents_see_are_not_added(self):
        target = {"kind": "keda", "targets": [{"name": "x", "instance": "x", "max": 2}]}
        objects = of_kind(rendered(values=dict(DEPLOYMENT, autoscaling=target)), "ScaledObject")
        self.assertTrue(objects[0]["spec"]["triggers"][1]["metadata"]["query"].startswith("max("))

    def test_hpa_scales_by_the_same(self):
        scaler = of_kind(rendered(files=ci("hpa")), "HorizontalPodAutoscaler")[0]
        self.known(json.dumps(scaler))
        targets = [metric["external"]["target"] for metric in scaler["spec"]["metrics"]]
        self.assertEqual(targets, [{"type": "Value", "value": "800m"}, {"type": "AverageValue", "averageValue": "4"}])


class Readme(unittest.TestCase):
    def test_has_every_value_that_is_explained(self):
        readme, path, explained = text_of("README.md"), [], ""
        rows = 0
        for line in text_of("values.yaml").splitlines():
            words = line.strip()
            depth = (len(line) - len(words)) // 2
            if words.startswith("# -- "):
                explained = words[5:]
            elif words.startswith("# ") and explained:
                explained += " " + words[2:]
            elif re.match(r"[a-zA-Z]+:", words):
                path = path[:depth] + [words.split(":")[0]]
                if explained:
                    self.assertRegex(readme, r"(?m)^\| %s \| .* \| %s \|$" % (re.escape(".".join(path)), re.escape(explained)))
                    rows += 1
                explained = ""
        self.assertEqual(rows, len(re.findall(r"(?m)^\| [a-zA-Z.]+ \| (?:string|int|bool|list|object) \|", readme)))


class Notes(unittest.TestCase):
    """helm shows notes of a release only: they are rendered as what a ConfigMap holds, in a copy of the chart."""

    def notes(self, values):
        with tempfile.TemporaryDirectory() as folder:
            chart = os.path.join(folder, "chart")
            shutil.copytree(CHART, chart)
            lines = "".join("    " + line for line in text_of("templates/NOTES.txt").splitlines(True))
            with open(os.path.join(chart, "templates/notes.yaml"), "w", encoding="utf-8") as file:
                file.write("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata:\n  notes: |\n" + lines)
            with open(os.path.join(folder, "values.yaml"), "w", encoding="utf-8") as file:
                yaml.safe_dump(values, file)
            done = run(HELM, "template", "r", chart, "--namespace", "ai", "--kube-version", KUBERNETES, "-f",
                       os.path.join(folder, "values.yaml"), "--show-only", "templates/notes.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        return yaml.safe_load(done.stdout)["data"]["notes"]

    def commands(self, notes):
        notes = re.sub(r"\$\(kubectl [^)]*\)", "10.96.0.10", notes)
        return [words.split(" >")[0].split() for words in re.findall(r"^ *inference-spoa (haproxy .*)$", notes, re.M)]

    def test_tell_commands_that_the_program_takes(self):
        for values in ({}, {"fullnameOverride": "infer"}, dict(DEPLOYMENT, agents=2)):
            commands = self.commands(self.notes(values))
            self.assertTrue(commands)
            for words in commands:
                done = run(PROGRAM, *words)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_name_agents_as_their_services_are_named(self):
        notes = self.notes(dict(DEPLOYMENT, fullnameOverride="infer"))
        address = "$(kubectl -n ai get service infer-%d -o jsonpath={.spec.clusterIP}):9000"
        self.assertIn("--name infer --agent %s --agent %s" % (address % 0, address % 1), notes)

    def test_warn_of_names_that_the_side_car_does_not_look_for(self):
        self.assertIn("BEWARE: the side-car looks for the Secret r-inference-spoa-redis, not other",
                      self.notes({"redis": {"existingSecret": "other"}}))
        self.assertIn("BEWARE: the side-car looks for the ConfigMap r-inference-spoa-policy, not mine",
                      self.notes({"existingPolicy": "mine"}))
        self.assertNotIn("BEWARE", self.notes({"existingPolicy": "r-inference-spoa-policy"}))


if __name__ == "__main__":
    HELM, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=int(os.environ.get("VERBOSE", "1")))
