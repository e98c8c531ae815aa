"""Files for tools that do not run here follow the tools' own schemas, and agree with the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import check_jsonschema
import jsonschema
import kubernetes_validate
import pytest
import yaml
from click import Command

from api.cli.commands import main
from api.market_settings import read_endpoints
from api.services.operations.series import COUNTERS, GAUGES
from api.settings import SETTINGS
from tests.deploy.files import DEPLOY, ROOT, read, replace_all
from tests.support.cli_reference import list_commands
from tests.support.servers import get_program

KUBERNETES = ("1.30", "1.37")
"""The oldest and the newest version that the manifests are held to."""
MANIFESTS = [
    (path.name, document)
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("checkout-*"))
METRICS = {*GAUGES, *(f"{name}_total" for name in COUNTERS)} | {
    "up",
    "checkout_http_requests_total",
    "checkout_http_request_seconds_bucket",
}


def read_compose_schema() -> dict[str, Any]:
    path = Path(check_jsonschema.__file__).parent / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema: dict[str, Any] = json.loads(path.read_text())
    return schema


def find_containers() -> list[dict[str, Any]]:
    return [
        each
        for _, kind in MANIFESTS
        if "template" in kind.get("spec", {})
        for each in kind["spec"]["template"]["spec"]["containers"]
    ]


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize(("name", "manifest"), MANIFESTS, ids=[f"{name}-{each['kind']}" for name, each in MANIFESTS])
def test_manifests_follow_the_schemas_of_kubernetes(name: str, manifest: dict[str, Any], version: str) -> None:
    """What does not follow them raises, as the next test shows."""
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_wrong_manifest_is_noticed() -> None:
    manifest = next(each for _, each in MANIFESTS if each["kind"] == "Deployment")
    broken = {**manifest, "spec": {**manifest["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, KUBERNETES[-1], strict=True)


def test_the_compose_file_follows_its_schema() -> None:
    compose = yaml.safe_load(read("compose.yaml"))
    jsonschema.validate(compose, read_compose_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**compose, "services": {"serve": {"imagine": "checkout"}}}, read_compose_schema())
    for service in compose["services"].values():
        assert set(service.get("depends_on", ())) <= set(compose["services"])
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in compose["volumes"]


def test_containers_call_commands_that_exist() -> None:
    compose = yaml.safe_load(read("compose.yaml"))
    (image,) = re.findall(r"^CMD (\[.*\])$", read("Containerfile"), re.MULTILINE)
    composed = [each["command"] for each in compose["services"].values() if each.get("command", [""])[0] == "checkout"]
    called = [json.loads(image), *composed, *(each["command"] for each in find_containers())]
    units = [re.findall(r"^ExecStart=\S+/(checkout .*)$", read(f"systemd/{name}"), re.MULTILINE) for name in UNITS]
    called += [command.split() for command in chain.from_iterable(units)]
    known = dict(list_commands())
    assert len(called) == 11
    for program, *words in called:
        assert program == "checkout"
        (command,) = [known[each] for each in known if tuple(words[: len(each)]) == each]
        assert isinstance(command, Command)
        options = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= options
    assert main.name == "main"


def test_files_name_settings_that_exist() -> None:
    compose = yaml.safe_load(read("compose.yaml"))["services"]["serve"]["environment"]
    config = [each for _, each in MANIFESTS if each["kind"] in {"ConfigMap", "Secret"}]
    given = {name for each in config for name in (each.get("data") or each["stringData"])} | set(compose)
    given |= set(re.findall(r"^#?([A-Z_]+)=", read("checkout.env"), re.MULTILINE))
    for name in UNITS:
        for line in re.findall(r"^Environment=(.*)$", read(f"systemd/{name}"), re.MULTILINE):
            given |= {word.partition("=")[0] for word in line.split()}
    (environment,) = re.findall(r"^ENV (.*)$", read("Containerfile"), re.MULTILINE)
    given |= {word.partition("=")[0] for word in environment.split()} - {"PYTHONUNBUFFERED"}
    assert len(given) > 10
    assert given <= set(SETTINGS)


def test_the_operators_command_has_the_services_settings(tmp_path: Path) -> None:
    settings = re.sub(r"^#([A-Z_]+=)", r"\1", read("checkout.env"), flags=re.MULTILINE)
    (tmp_path / "checkout.env").write_text(settings)
    (tmp_path / "checkout").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m api.cli "$@"\n')
    (tmp_path / "checkout").chmod(0o755)
    changes = {
        "/etc/checkout/checkout.env": str(tmp_path / "checkout.env"),
        "runuser -u checkout -- /opt/checkout/.venv/bin/checkout": str(tmp_path / "checkout"),
        "cd /opt/checkout": f"cd {ROOT}",
    }
    (tmp_path / "checkout.sh").write_text(replace_all(read("systemd/checkout.sh"), changes))
    command = ["sh", tmp_path / "checkout.sh", "settings", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {row["setting"]: row["value"] for row in map(json.loads, done.stdout.splitlines())}
    assert rows["BASE_URL"] == "https://pay.example"
    assert rows["RPC_URLS"] == "(set; not shown)"
    assert rows["ADAPTERS"] == "chain,gas,across,cctp"
    assert rows["DATA_DIR"] == "/var/lib/checkout"
    shell = f'set -a; . {tmp_path / "checkout.env"}; printf %s "$RPC_URLS"'
    read_by_shell = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout
    assert sorted(read_endpoints("RPC_URLS", read_by_shell)) == [1, 8453]


def test_the_file_of_settings_goes_before_what_units_set(tmp_path: Path) -> None:
    """systemd takes the file's word; so does the operator's command, or both would work on different databases."""
    (tmp_path / "checkout.env").write_text("DATA_DIR=/elsewhere\n")
    changes = {
        "/etc/checkout/checkout.env": str(tmp_path / "checkout.env"),
        "exec runuser -u checkout -- /opt/checkout/.venv/bin/checkout": "printenv DATA_DIR XDG_CACHE_HOME; echo",
        "cd /opt/checkout": "cd /",
    }
    (tmp_path / "checkout.sh").write_text(replace_all(read("systemd/checkout.sh"), changes))
    done = subprocess.run(["sh", tmp_path / "checkout.sh"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["/elsewhere", "/var/cache/checkout"]


def test_units_are_held_alike() -> None:
    units = [read(f"systemd/{name}") for name in UNITS if name.endswith(".service") and "failed" not in name]
    held = ("UMask=0077", "ProtectSystem=strict", "CapabilityBoundingSet=", "SystemCallFilter=@system-service")
    for line in (*held, "After=network-online.target postgresql.service"):
        assert all(line in unit for unit in units), line
    lasting = [unit for unit in units if "Restart=always" in unit]
    assert len(lasting) == 2
    assert all("StartLimitIntervalSec=0" in unit for unit in lasting), "else five quick ends would be the last"


def test_documents_disable_units_by_name() -> None:
    """`systemctl disable` takes no pattern, and does nothing but say so."""
    text = (ROOT / "docs" / "runbook.md").read_text()
    lines = re.findall(r"systemctl disable[^`]*", text)
    assert lines
    assert not any("*" in line for line in lines)


def test_the_accounts_home_is_not_the_folder_of_the_service() -> None:
    """A home is refused as DATA_DIR; systemd, `runuser` and container engines take it from the account."""
    document = (ROOT / "docs" / "deployment.md").read_text()
    (adduser,) = re.findall(r"^adduser .*$", document, re.MULTILINE)
    assert "--home" not in adduser.split(), "without it Debian gives a system account /nonexistent"
    (home,) = re.findall(r"--home-dir (\S+)", read("Containerfile"))
    (exported,) = re.findall(r"\bHOME=(\S+)", read("systemd/checkout.sh"))
    assert {home, exported} == {"/nonexistent"}


def test_an_image_is_made_by_the_steps_that_were_tried() -> None:
    """No engine runs here: what the image does beside copying is what the document says, which was tried by hand."""
    document = (ROOT / "docs" / "deployment.md").read_text()
    tried = "pip install -c constraints.txt -e '.[api]'", "python -m routing_engine.warm_up --formulas"
    built = read("Containerfile").replace(" --no-cache-dir", "")
    for step in tried:
        assert step in document
        assert re.search(rf"^RUN {re.escape(step)}$", built, re.MULTILINE), step
    for folder in ("/var/lib/checkout", "/var/cache/checkout"):
        assert re.search(rf"^install -d -o checkout -g checkout -m 0700 .*{folder}", document, re.MULTILINE)
        assert re.search(rf"install -d -m 0700 -o checkout .*{folder}", built)
    units = {name: read(f"systemd/{name}") for name in UNITS if name.endswith(".service")}
    names = {
        words.split()[0] for unit in units.values() for words in re.findall(r"bin/checkout (.*)$", unit, re.MULTILINE)
    }
    assert names == {"serve", "worker", "db"}
    places = re.findall(r"^(?:Environment=|ENV )(.*)$", "\n".join((built, *units.values())), re.MULTILINE)
    assert {word for line in places for word in line.split() if word.startswith("DATA_DIR=")} == {
        "DATA_DIR=/var/lib/checkout"
    }


def test_secrets_stand_where_secrets_are_kept() -> None:
    (config,) = [each for _, each in MANIFESTS if each["kind"] == "ConfigMap"]
    secret = {name for name, setting in SETTINGS.items() if setting.is_secret} - {"REDIS_URL"}
    assert not secret & set(config["data"])


def test_the_image_copies_what_is_there_and_all_that_an_installation_needs() -> None:
    text = read("Containerfile")
    copied = [word for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied)
    assert {
        "setup.cfg",
        "pyproject.toml",
        "build_backend.py",
        "constraints.txt",
        "api",
        "adapters",
        "routing_engine",
    } <= set(copied)
    assert re.search(r"^USER checkout$", text, re.MULTILINE)


@pytest.mark.parametrize("name", UNITS)
def test_units_are_what_systemd_understands(name: str, tmp_path: Path) -> None:
    for each in UNITS:
        text = read(f"systemd/{each}")
        (tmp_path / each).write_text(re.sub(r"^(ExecStart=)/opt/\S+", r"\1/bin/true", text, flags=re.MULTILINE))
    instance = name.replace("@", "@8001")
    command = [get_program("systemd-analyze"), "verify", "--man=no", "--recursive-errors=no", tmp_path / instance]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "checkout" in line]
    assert (done.returncode, said) == (0, [])


def test_alerts_fire_when_they_should_and_only_then() -> None:
    done = subprocess.run(
        [get_program("promtool"), "test", "rules", "alerts.test.yml"],
        cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    alerts = {rule["alert"] for rule in list_rules()}
    tested = yaml.safe_load(read("prometheus/alerts.test.yml"))["tests"]
    fired = {each["alertname"] for test in tested for each in test["alert_rule_test"] if each["exp_alerts"]}
    quiet = {each["alertname"] for test in tested for each in test["alert_rule_test"] if not each["exp_alerts"]}
    assert alerts == fired == quiet


def list_rules() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load(read("prometheus/alerts.yml"))["groups"][0]["rules"]
    return rules


def list_queries() -> list[str]:
    panels = json.loads(read("grafana/checkout.json"))["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def test_queries_name_metrics_that_are_served() -> None:
    queries = [*list_queries(), *(rule["expr"] for rule in list_rules())]
    assert len(queries) > 35
    for query in queries:
        named = re.findall(r"\b(?:checkout_\w+|up)(?=[{\[)]| *==|$)", query)
        assert named, query
        assert set(named) <= METRICS, query
    assert METRICS - {name for query in queries for name in re.findall(r"\w+", query)} == set(), "shown nowhere"


def test_queries_are_what_prometheus_understands(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": query} for number, query in enumerate(list_queries())]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(
        [get_program("promtool"), "check", "rules", tmp_path / "rules.yml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_lead_to_parts_of_the_runbook() -> None:
    text = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
    titles = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for rule in list_rules():
        page, _, part = rule["annotations"]["runbook"].partition("#")
        assert page == "runbook.md"
        assert part in titles
