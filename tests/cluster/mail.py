"""Stand-ins for the images of examples/signup: what they do is written in this file's two programs."""

from pathlib import Path

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, interpreter_layer
from cluster.real_node import RealNode

SEND_MAIL = """#!/usr/local/bin/python3
import json, os, smtplib
from email.message import EmailMessage

user = json.load(open(os.environ["WORK_ITEM_FILE"]))
mail = EmailMessage()
mail["From"], mail["To"], mail["Subject"] = "signup@example.com", user["email"], os.environ["TEMPLATE"]
mail.set_content(json.dumps(user))
with smtplib.SMTP("smtp", 25) as server:
    server.send_message(mail)
"""
STORE = """#!/usr/local/bin/python3
import os, urllib.request

settings = open(os.environ["WORK_ITEM_FILE"], "rb").read()
urllib.request.urlopen(urllib.request.Request("http://settings:8080/", settings))
"""


def load_mail_images(node: RealNode, folder: Path) -> None:
    for image, command, program in (("mailer:2.1", "send-mail", SEND_MAIL), ("settings:1.4", "store", STORE)):
        root = folder / command
        (root / "usr/local/bin").mkdir(parents=True)
        path = root / "usr/local/bin" / command
        path.write_text(program)
        path.chmod(0o755)
        names = [f"registry.example.com/mail/{image}"]
        node.load_image(Image(names, [interpreter_layer(), root], ["sh"], environment=ENVIRONMENT))
