"""The manager after the book's listing, round after round: plain.py KUBECONFIG SOURCE NAMESPACE"""

import sys
import time

from kubernetes import config

from support.plain_manager import update_queue

if __name__ == "__main__":
    kubeconfig, source, namespace = sys.argv[1:]
    api = config.new_client_from_config(kubeconfig)
    while True:
        update_queue(source, api, namespace, "example.com/worker:1")
        time.sleep(1)
