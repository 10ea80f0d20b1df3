"""The fields of Kubernetes' objects that the manager reads; decoding skips everything else."""

from datetime import datetime

import msgspec


class Reference(msgspec.Struct):
    uid: str


class Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Reference] | None = None


class ListMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Condition(msgspec.Struct, rename="camel"):
    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class JobStatus(msgspec.Struct, rename="camel"):
    conditions: list[Condition] | None = None
    completion_time: datetime | None = None


class PodSpec(msgspec.Struct, rename="camel"):
    node_selector: dict[str, str] | None = None


class Annotated(msgspec.Struct):
    annotations: dict[str, str] | None = None


class PodTemplate(msgspec.Struct):
    metadata: Annotated = msgspec.field(default_factory=Annotated)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class JobSpec(msgspec.Struct):
    template: PodTemplate
    suspend: bool = False


class JobObject(msgspec.Struct):
    metadata: Metadata
    spec: JobSpec
    status: JobStatus = msgspec.field(default_factory=JobStatus)


class Terminated(msgspec.Struct, rename="camel"):
    exit_code: int
    message: str = ""
    reason: str = ""


class Running(msgspec.Struct):
    pass


class Waiting(msgspec.Struct):
    reason: str = ""
    message: str = ""


class ContainerState(msgspec.Struct):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct):
    name: str
    state: ContainerState = msgspec.field(default_factory=ContainerState)


class PodStatus(msgspec.Struct, rename="camel"):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: list[Condition] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    container_statuses: list[ContainerStatus] | None = None


class Pod(msgspec.Struct):
    metadata: Metadata
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class ConfigMap(msgspec.Struct, rename="camel"):
    metadata: Metadata
    data: dict[str, str] | None = None
    binary_data: dict[str, bytes] | None = None


class Jobs(msgspec.Struct):
    metadata: ListMetadata
    items: list[JobObject]


class Pods(msgspec.Struct):
    metadata: ListMetadata
    items: list[Pod]


class ConfigMaps(msgspec.Struct):
    metadata: ListMetadata
    items: list[ConfigMap]


class Described(msgspec.Struct):
    """A PartialObjectMetadataList."""

    metadata: ListMetadata
    items: list[ConfigMap] | None = None


class Event(msgspec.Struct):
    """One line of a watch. `object` is a Status where type is ERROR."""

    type: str
    object: msgspec.Raw


class Status(msgspec.Struct):
    code: int = 0
    message: str = ""


class Bookmark(msgspec.Struct):
    metadata: Metadata
