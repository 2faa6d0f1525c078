# SPDX-License-Identifier: Apache-2.0
"""Kubernetes manifests and Compose files: what is wrong with them, and the programs that they start."""

import os
import re
import subprocess

import container

LIBRARY = "libtraceinject.so"
GPU = "nvidia.com/gpu"


class Each:
    """A mapping with keys of any name."""

    def __init__(self, kind):
        self.kind = kind


# Fields by name; "!" marks those that have to be there. What is not listed is not allowed, so that a field with a typing error is found.
MOUNT = {"name!": str, "mountPath!": str, "readOnly": bool}
CONTAINER = {"name!": str, "image!": str, "command!": [str], "env": [{"name!": str, "value!": str}],
             "resources": {"limits!": Each(int)}, "volumeMounts!": [MOUNT]}
VOLUME = {"name!": str, "emptyDir": {"medium": str, "sizeLimit": str}, "persistentVolumeClaim": {"claimName!": str}}
POD = {"spec!": {"restartPolicy": str, "initContainers!": [CONTAINER], "containers!": [CONTAINER], "volumes!": [VOLUME]}}
REPLICAS = {"replicas!": int, "restartPolicy!": str, "template!": POD}
KINDS = {
    "Job": ("batch/v1", {"backoffLimit": int, "template!": POD}),
    "PyTorchJob": ("kubeflow.org/v1", {"pytorchReplicaSpecs!": {"Master!": REPLICAS, "Worker": REPLICAS}}),
}
DEVICE = {"driver!": str, "count!": int, "capabilities!": [str]}
COMPOSE = {"services!": Each({"image!": str, "command!": [str], "ipc": str, "environment!": Each(str), "volumes!": [str],
                              "deploy!": {"resources!": {"reservations!": {"devices!": [DEVICE]}}}})}


def misfits(value, kind, place=""):
    """How a value differs from its schema."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [fault for number, entry in enumerate(value) for fault in misfits(entry, kind[0], f"{place}[{number}]")]
    if isinstance(kind, type):
        return [] if type(value) is kind else [f"{place} is no {kind.__name__}"]
    if not isinstance(value, dict):
        return [f"{place} has no fields"]
    if isinstance(kind, Each):
        return [fault for name, entry in value.items() for fault in misfits(entry, kind.kind, f"{place}.{name}")]
    fields = {name.rstrip("!"): inner for name, inner in kind.items()}
    faults = [f"{place}.{name[:-1]} is missing" for name in kind if name.endswith("!") and name[:-1] not in value]
    for name, entry in value.items():
        faults += misfits(entry, fields[name], f"{place}.{name}") if name in fields else [f"{place}.{name} is unknown"]
    return faults


def place_of(path, targets):
    """The target that a path lies below; None: none."""
    return next((target for target in targets if path.startswith(target.rstrip("/") + "/")), None)


def recorded_faults(environment, targets, program, gpus):
    """What keeps the program of a container from being recorded. `targets`: where something is mounted."""
    faults = []
    for name in ("LD_PRELOAD", "TRACEINJECT_OUTPUT"):
        if name not in environment:
            faults.append(f"{name} is not set")
        elif not place_of(environment[name], targets):
            faults.append(f"{name} is below no mount")
    if not environment.get("LD_PRELOAD", LIBRARY).endswith(LIBRARY):
        faults.append("LD_PRELOAD is not the library")
    processes = re.findall(r"--nproc_per_node[= ](\d+)", " ".join(program))
    if processes != [str(gpus)]:
        faults.append(f"{processes} processes on {gpus} GPUs")
    return faults


def variables_of(holder):
    return {variable["name"]: variable["value"] for variable in holder.get("env", [])}


def mounts_of(holder):
    return {mount["mountPath"]: mount["name"] for mount in holder["volumeMounts"]}


def pod_faults(pod):
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    holders = pod["initContainers"] + pod["containers"]
    mounted = {name for holder in holders for name in mounts_of(holder).values()}
    faults = [f"a mount of the unknown volume {name}" for name in sorted(mounted - set(volumes))]
    faults += [f"nobody mounts the volume {name}" for name in sorted(set(volumes) - mounted)]
    filled = set()
    for holder in pod["initContainers"]:
        target = place_of(holder["command"][-1] + "/", mounts_of(holder))
        filled.add(mounts_of(holder).get(target))
    for holder in pod["containers"]:
        environment, mounts = variables_of(holder), mounts_of(holder)
        faults += recorded_faults(environment, mounts, holder["command"], holder.get("resources", {}).get("limits", {}).get(GPU))
        library = mounts.get(place_of(environment.get("LD_PRELOAD", ""), mounts))
        output = mounts.get(place_of(environment.get("TRACEINJECT_OUTPUT", ""), mounts))
        if library not in filled:
            faults.append("no init container copies the library to its volume")
        if "persistentVolumeClaim" not in volumes.get(output, {}):
            faults.append("the recordings end with the pod")
    return faults


def pods_of(manifest):
    """[(pod, variables that the controller adds)], in the order of their ranks."""
    if manifest["kind"] == "Job":
        return [(manifest["spec"]["template"]["spec"], {})]
    replicas = manifest["spec"]["pytorchReplicaSpecs"]
    pods = [replicas[role]["template"]["spec"] for role in ("Master", "Worker") if role in replicas for _ in range(replicas[role]["replicas"])]
    return [(pod, {"RANK": str(rank), "WORLD_SIZE": str(len(pods)), "MASTER_ADDR": "localhost"}) for rank, pod in enumerate(pods)]


def manifest_faults(manifest):
    if manifest.get("kind") not in KINDS:
        return [f"the kind {manifest.get('kind')} is unknown"]
    version, schema = KINDS[manifest["kind"]]
    faults = misfits(manifest, {"apiVersion!": str, "kind!": str, "metadata!": {"name!": str}, "spec!": schema})
    if manifest.get("apiVersion") != version:
        faults.append(f"{manifest['kind']} is of {version}")
    if faults:
        return faults
    pods = pods_of(manifest)
    if manifest["kind"] == "PyTorchJob":
        # Of other containers the operator takes no notice.
        faults += ["no container pytorch" for pod, _ in pods if "pytorch" not in [holder["name"] for holder in pod["containers"]]]
    elif pods[0][0].get("restartPolicy") not in ("Never", "OnFailure"):
        faults.append("a Job has to say when its pods are started again")
    return faults + [fault for pod, _ in pods for fault in pod_faults(pod)]


def compose_faults(compose):
    faults = misfits(compose, COMPOSE)
    if faults:
        return faults
    for service in compose["services"].values():
        targets = [with_variables(volume, {}).split(":")[1] for volume in service["volumes"]]
        gpus = sum(device["count"] for device in _devices(service) if device["driver"] == "nvidia" and "gpu" in device["capabilities"])
        faults += recorded_faults(service["environment"], targets, service["command"], gpus)
    return faults


def with_variables(text, environment):
    """As Compose replaces ${NAME:-default} and ${NAME:?message}."""
    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}", lambda match: environment.get(match[1], match[2]), text)


def _devices(service):
    return service["deploy"]["resources"]["reservations"]["devices"]


def run_compose(compose, environment):
    for service in compose["services"].values():
        mounts = []
        for volume in service["volumes"]:
            source, target, *flags = with_variables(volume, environment).split(":")
            mounts.append((source, target, flags == ["ro"]))
        program = container.command(service["command"], mounts, service["environment"], bool(_devices(service)))
        subprocess.run(program, check=True, timeout=120)


def _start(holder, folders, environment, image):
    mounts = [(str(folders[mount["name"]]), mount["mountPath"], mount.get("readOnly", False)) for mount in holder["volumeMounts"]]
    has_gpus = GPU in holder.get("resources", {}).get("limits", {})
    return subprocess.Popen(container.command(holder["command"], mounts + image, {**environment, **variables_of(holder)}, has_gpus))


def run_pods(manifest, folder, kit, results, port):
    """All pods beside each other, each with volumes of its own but for the claimed one, `results`. `kit`: what the image of the init
    container has at /kit."""
    running = []
    for number, (pod, added) in enumerate(pods_of(manifest)):
        folders = {}
        for volume in pod["volumes"]:
            folders[volume["name"]] = results if "persistentVolumeClaim" in volume else folder / f"pod{number}" / volume["name"]
            os.makedirs(folders[volume["name"]], exist_ok=True)
        for holder in pod["initContainers"]:
            if _start(holder, folders, {}, [(str(kit), "/kit", True)]).wait(timeout=60):
                raise RuntimeError(f"{holder['name']} failed")
        running += [_start(holder, folders, {**added, "MASTER_PORT": str(port)}, []) for holder in pod["containers"]]
    if any([process.wait(timeout=240) for process in running]):
        raise RuntimeError("a container failed")
