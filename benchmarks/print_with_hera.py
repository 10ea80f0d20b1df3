"""usage: print_with_hera.py OBJECT.json COUNT    run by Hera's Python: a WorkflowTemplate for each queue"""

import json
import sys

from hera.workflows import Container, Env, Resources, SecretEnv, WorkflowTemplate

with open(sys.argv[1]) as file:
    queue = json.load(file)
for n in range(int(sys.argv[2])):
    labels = queue["metadata"]["labels"]
    with WorkflowTemplate(name=f"queue-{n}", entrypoint="worker", labels=labels) as template:
        Container(
            name="worker",
            image=f"registry.example.com/resizer:4.{n}",
            command=["resize", "--width", str(n)],
            env=[
                Env(name="STORE", value="https://s3.example.com"),
                SecretEnv(name="TOKEN", secret_name="store", secret_key="token"),
            ],
            resources=Resources(
                cpu_request="100m", cpu_limit=1, memory_request="128Mi", memory_limit="128Mi"
            ),
            annotations={"settings": queue["data"]["settings.yaml"]},
        )
    print("---")
    print(template.to_yaml())
