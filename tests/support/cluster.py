"""A Ray cluster of two machines, both of them this one, with a core each. What Ray itself prints is ignored."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

STORE = 80 << 20  # bytes
TESTS = Path(__file__).parents[1]
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # a busy machine would not let them start
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_health_check_period_ms": "1000",  # of a machine that is killed
}


@contextmanager
def start_machines(*folders: Path) -> Iterator[Any]:
    """Yields the cluster, whose processes can import the modules of the folders."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    machine = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        for folder in (TESTS, *folders):
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        cluster = Cluster(initialize_head=True, head_node_args=machine)
        cluster.add_node(**machine)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


def kill_machine(cluster: Any) -> None:
    """Kills the machine that joined last, with its processes."""
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
