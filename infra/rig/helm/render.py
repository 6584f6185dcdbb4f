"""Renders the chart of a folder with the values on standard input, and checks every object against the schemas of Kubernetes.

Prints the objects as a JSON list. Exit code 1 with what Helm or a schema refuses on standard error.
"""
import json
import sys

import helm_python
import kubernetes_validate
import yaml

VERSION = "1.37"


def main(folder):
    values = json.load(sys.stdin)
    with helm_python.Chart.load(folder) as chart:
        chart.validate_schema(values)
        rendered = chart.render(values=values, name="cloud", namespace="openstack")
    objects = [
        each
        for path, text in sorted(rendered.items())
        if path.endswith(".yaml")
        for each in yaml.safe_load_all(text)
        if each
    ]
    for each in objects:
        kubernetes_validate.validate(each, VERSION, strict=True)
    json.dump(objects, sys.stdout)


try:
    main(sys.argv[1])
except Exception as error:  # whatever Helm or a schema says is the answer
    sys.stderr.write(f"{type(error).__name__}: {error}\n")
    sys.exit(1)
