"""Settings from the environment (`GRAPHMEM_…`), checked once at start."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every knob of the service. Durations are given in the unit of their name."""

    model_config = SettingsConfigDict(env_prefix="GRAPHMEM_", extra="ignore", frozen=True)

    home: Path | None = None
    """Data home of the local server, index and keys; default: the platform's user data folder."""
    neo4j_uri: str | None = None
    """Bolt address; where none is set a Neo4j of one's own is brought up."""
    neo4j_user: str = "neo4j"
    """Login name at `neo4j_uri`."""
    neo4j_password: SecretStr = SecretStr("")
    """Password at `neo4j_uri`; a Neo4j of one's own keeps its own under `home`."""
    neo4j_database: str = "neo4j"
    """Database at `neo4j_uri`; Community edition has only `neo4j`."""
    neo4j_pool: int = Field(default=64, ge=1, le=1000)
    """Connections to Neo4j that one process may hold."""
    qdrant_url: str | None = None
    """Address of a Qdrant server; where none is set the in-process engine is used, under `home`."""
    qdrant_api_key: SecretStr | None = None
    """Key of the Qdrant server."""
    embedders: tuple[str, ...] = ("use", "e5")
    """Which embedders make vectors: `use`, `e5`, `bge-m3` (the last one needs the extra `bge` and `bge_model`)."""
    embedding_dimensions: dict[str, int] = Field(default_factory=dict)
    """Expected sizes by embedder; a size that contradicts the model refuses the start."""
    bge_model: Path | None = None
    """Folder with the weights of bge-m3, fetched by you; nothing is downloaded at run time."""
    packs: tuple[Path, ...] = ()
    """Packs of your own, read after the built-in ones in this order (docs/how-to/packs.md)."""
    open_keys: bool = True
    """Whether tenants may use keys outside the ontology."""
    zone: str = "UTC"
    """IANA time zone of whoever names none."""
    trusted_domains: frozenset[str] = frozenset({"default"})
    """Owner domains whose `verified: true` counts as the proofs of a dual key."""
    window_hours: float = Field(default=72.0, gt=0)
    """Reversal window of preferences in speech (design section 5)."""
    clock_skew_minutes: float = 5.0
    """An `at` up to this far ahead is taken as now (design section 5)."""
    pending_days: float = Field(default=30.0, gt=0)
    """An undecided pending memory is no longer shown after this (design section 5)."""
    store_threshold: float = Field(default=0.85, gt=0, le=1)
    """Confidence under which nothing is stored and a question goes out (design section 5)."""
    recall_threshold: float = Field(default=0.85, gt=0, le=1)
    """Calibrated score of a told L2 memory (design section 6)."""
    decay_days: float = Field(default=30.0, gt=0)
    """Time constant of the weight (design section 5)."""
    review_quota: int = Field(default=100, ge=1)
    """Open review cases of facts that one user may have; a statement that would open another is refused (reliability T11)."""
    lease_seconds: int = Field(default=30, ge=1)
    """How long a projector holds an outbox record."""
    api_keys: dict[str, str] = Field(default_factory=dict)
    """API key → tenant, for deployments that set keys by environment."""
    token_secret: SecretStr | None = None
    """HS256 secret of user tokens, 32 bytes or more."""
    token_public_key: str | None = None
    """EdDSA public key of user tokens, in PEM."""
    sweep_seconds: float = Field(default=300.0, gt=0)
    """How often a service tidies what reads already know: due plans, lapsed memories, what was forgotten 72 hours ago."""
    archive_superseded_days: float = Field(default=365.0, ge=0)
    """How long a superseded preference or context stays in the graph before an archive run moves it."""
    archive_expired_days: float = Field(default=30.0, ge=0)
    """How long after its expiry a preference or context stays in the graph before an archive run moves it."""
    graphql_introspection: bool = False
    """Whether GraphQL tells its schema and suggests names: for development; off in production."""
    rate_user: str = "1200/minute"
    """Requests that may be sent for one user, as `1200/minute` or `20/second`; empty: no limit. Counted in each process by itself."""
    rate_tenant: str = "30000/minute"
    """Requests that one tenant may send, over all its users; empty: no limit."""
    max_text: int = Field(default=100_000, ge=1)
    """Characters of a turn; a longer one is a 413."""

    @property
    def window(self) -> timedelta:
        return timedelta(hours=self.window_hours)

    @property
    def pending_life(self) -> timedelta:
        return timedelta(days=self.pending_days)

    @property
    def skew(self) -> timedelta:
        return timedelta(minutes=self.clock_skew_minutes)
