"""Literals that look like secrets, and those that don't."""

import pytest

from support.findings import advice, places
from wqc.checks.secrets import secret_in


# Put together here, so that scanners of this repository don't take them for real ones.
def fake(*parts: str) -> str:
    return "".join(parts)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (fake("AKIA", "IOSFODNN7EXAMPLE"), "an AWS access key"),
        (fake("ghp_", "0123456789abcdefghijABCDEFGHIJ012345"), "a GitHub token"),
        (fake("github_pat_", "11AAAAAAA0" * 6), "a GitHub token"),
        (fake("glpat-", "abcdefghij0123456789"), "a GitLab token"),
        (fake("xoxb-", "123456789012-abcdefghij"), "a Slack token"),
        (
            fake("https://hooks.slack", ".com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
            "a Slack webhook",
        ),
        (fake("AIza", "SyA0123456789abcdefghijABCDEFGHIJ01"), "a Google API key"),
        (fake("sk_live_", "0123456789abcdefABCDEF"), "a Stripe key"),
        (fake("sk-ant-", "0123456789abcdefABCDEF0123456789abcdef"), "an API key"),
        (fake("npm_", "0123456789abcdefghijABCDEFGHIJ012345"), "an npm token"),
        (fake("hf_", "abcdefghijabcdefghijabcdefghijABCD"), "a Hugging Face token"),
        (fake("AccountKey=", "a1" * 43, "=="), "an Azure storage key"),
        (
            fake("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w"),
            "a JSON web token",
        ),
        (fake("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE"), "a private key"),
        ("amqp://user:hunter2@mq:5672/", "an address with a password"),
        ("postgres://app:s3cr3t@db/app", "an address with a password"),
        ("redis://:hunter2@r:6379", "an address with a password"),
        ("curl -d password=hunter22 http://a", "a password"),
        ('export API_KEY="0a1b2c3d4e5f"', "a password"),
        ("--client-secret=0a1b2c3d4e5f", "a password"),
    ],
)
def test_what_looks_like_one_anywhere(text: str, what: str) -> None:
    assert secret_in("ARGUMENT", text) == what


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("DB_PASSWORD", "hunter2"),
        ("password", "correct horse battery staple"),
        ("CLIENT_SECRET", "abcdef"),
        ("dbPassword", "hunter2"),
        ("API_TOKEN", "q8Zt31LkPw90Xa"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1"),
        ("private_key", "b3BlbnNzaC1rZXktdjEA1"),
    ],
)
def test_what_the_key_gives_away(key: str, text: str) -> None:
    assert secret_in(key, text)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("TEMPLATE", "verify"),
        ("PARTITION_KEY", "user_id"),
        ("TOKEN_URL", "https://auth.example.com/token"),
        ("PASSWORD_FILE", "/run/secrets/db"),
        ("PASSWORD", "/run/secrets/db"),
        ("PASSWORD", "$DB_PASSWORD"),
        ("PASSWORD", "${DB_PASSWORD}"),
        ("PASSWORD", "<password>"),
        ("PASSWORD", ""),
        ("USE_PASSWORD", "true"),
        ("MAX_TOKENS", "4096"),
        ("TOKEN", "csrf"),
        ("SECRET_NAME", "mq"),
        ("SECRET", "vault://kv/mq"),
        ("SORT_KEY", "q8Zt31LkPw90Xa"),
        ("IMAGE", "r/k@sha256:" + "0a" * 32),
        ("COMMIT", "0123456789abcdef0123456789abcdef01234567"),
        ("run", 'curl -H "Authorization: Bearer $TOKEN" https://u:$PASSWORD@host/'),
        ("run", "TOKEN=$(cat /run/secrets/token); password=${1:-}"),
        ("run", "psql 'password={{ password }}'"),
        ("url", "https://git.example.com/a.git"),
        ("url", "ssh://git@git.example.com:22/a.git"),
        ("run", "git clone git@github.com:a/b.git"),
        ("run", "echo key: value; secret=no"),
        ("run", "ffmpeg -i \"$in\" -vf 'select=not(mod(n\\,100))' -fps_mode vfr out.png"),
    ],
)
def test_what_is_none(key: str, text: str) -> None:
    assert secret_in(key, text) == ""


HEAD = 'workflow w\nsource s: items { items = ["a"] }\n'


def test_places_and_what_to_do() -> None:
    text = HEAD + (
        "worker k {\n"
        '  image = "r/k:1"\n'
        '  command = ["k", "--password", "hunter2", "--verbose", "--token=0a1b2c3d4e5f"]\n'
        '  env = { NAME = "x", DB_PASSWORD = "hunter2", OTHER_PASSWORD = secret("db", "password") }\n'
        '  pod = { containers = [{ name = "worker", env = [{ name = "PGPASSWORD", value = "hunter2" }] }] }\n'
        "}\n"
        "queue q { from = s, worker = k }\n"
    )
    assert places(text, "WQ702") == [
        'WQ702 5:33 this looks like a password <"hunter2">',
        'WQ702 6:37 this looks like a password <"hunter2">',
        'WQ702 7:82 this looks like a password <"hunter2">',
    ]


def test_an_address_with_a_password() -> None:
    text = 'workflow w\nsource s: git { url = "https://me:hunter2@git.example.com/a.git" }\n' + (
        'worker k { image = "r/k:1" }\nqueue q { from = s, worker = k }\n'
    )
    assert places(text, "WQ702") == [
        'WQ702 2:23 this looks like an address with a password <"https://me:hunter2@git.example.com/a.git">'
    ]
    assert advice(text, "WQ702") == [
        "take it out of the address and say `auth = secret(…)`, or what this kind of source has instead"
    ]


def test_a_param_from_outside_is_found_where_it_is_used() -> None:
    text = HEAD + (
        'param pw = ""\nworker k { image = "r/k:1", env = { DSN = "postgres://app:${pw}@db/app" } }\n'
        "queue q { from = s, worker = k }\n"
    )
    assert places(text, "WQ702") == []
    assert len(places(text, "WQ702", params=(("pw", "hunter2"),))) == 1


def test_the_message_does_not_repeat_the_secret() -> None:
    text = (
        HEAD
        + 'worker k { image = "r/k:1", env = { PASSWORD = "hunter2" } }\nqueue q { from = s, worker = k }\n'
    )
    (told,) = places(text, "WQ702")
    assert "hunter2" not in told.rpartition(" <")[0]
    assert advice(text, "WQ702") == [
        'put it into a Secret of the namespace and refer to it: `PASSWORD = secret("NAME", "KEY")`'
    ]
