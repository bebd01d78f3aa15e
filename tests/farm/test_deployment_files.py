"""Files of the page about scale, checked by schemas of Kubernetes and of Dask's operator."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
CRD = "helm/dask-kubernetes-operator/crds/daskcluster.yaml"
VERSION = "1.33"
"""Of Kubernetes."""
yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install kubernetes-validate")


def published(name: str) -> Any:
    """Return what is in a file of the page."""
    (text,) = re.findall(rf"<!-- file: {name} -->\n```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return yaml.safe_load(text)


def closed(schema: Any) -> Any:
    """Return a schema by which fields that it does not name are wrong, and in which Kubernetes' numbers with units are
    known."""
    if isinstance(schema, list):
        return [*map(closed, schema)]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(value) for name, value in schema.items()}
    if found.get("x-kubernetes-int-or-string") is True:
        found["type"] = ["integer", "string"]
    if "properties" in found and found.get("type") == "object" and "x-kubernetes-preserve-unknown-fields" not in found:
        found.setdefault("additionalProperties", False)
    return found


def dask_schema() -> Any:
    try:
        files = distribution("dask-kubernetes").files or []
    except PackageNotFoundError:
        pytest.skip("needs the schema of Dask's operator: pip install --no-deps dask-kubernetes")
    (path,) = [file for file in files if str(file).endswith(CRD)]
    (version,) = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]["versions"]
    schema = closed(version["schema"]["openAPIV3Schema"])
    return {**schema, "properties": {"apiVersion": {}, "kind": {}, "metadata": {}, **schema["properties"]}}


def test_the_cluster_of_dask_fits_the_schema_of_its_operator() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema: pip install kubernetes-validate")
    schema, cluster = dask_schema(), published("dask.yaml")
    jsonschema.validate(cluster, schema)
    cluster["spec"]["worker"]["spec"]["containers"][0]["arguments"] = []
    with pytest.raises(jsonschema.ValidationError, match="'arguments' was unexpected"):
        jsonschema.validate(cluster, schema)


def test_pods_and_services_of_both_clusters_fit_the_schema_of_kubernetes() -> None:
    checker = pytest.importorskip("kubernetes_validate", reason="needs pip install kubernetes-validate")
    dask, ray = published("dask.yaml")["spec"], published("ray.yaml")["spec"]
    pods = [dask["worker"]["spec"], dask["scheduler"]["spec"]]
    pods += [one["template"]["spec"] for one in (ray["headGroupSpec"], *ray["workerGroupSpecs"])]
    kinds = [*(("Pod", pod) for pod in pods), ("Service", dask["scheduler"]["service"])]
    for kind, spec in kinds:
        checker.validate({"apiVersion": "v1", "kind": kind, "metadata": {}, "spec": spec}, VERSION, strict=True)
    wrong = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {**pods[0], "container": []}}
    with pytest.raises(checker.ValidationError):
        checker.validate(wrong, VERSION, strict=True)
