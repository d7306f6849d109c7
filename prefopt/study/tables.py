"""The two tables of a study database."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
studies = sa.Table(
    "studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(255), nullable=False, unique=True),
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("space", sa.Text, nullable=False),
    sa.Column("strategy", sa.String(255), nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("query_size", sa.Integer, nullable=False),
    sa.Column("budget", sa.Integer),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("version", sa.String(64), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
events = sa.Table(
    "events",
    metadata,
    sa.Column("study_id", sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("slot", sa.String(64)),
    sa.Column("token", sa.String(255)),
    sa.Column("rater", sa.String(255)),
    sa.Column("seconds", sa.Float),
    sa.Column("time", sa.Float, nullable=False),
    sa.UniqueConstraint("study_id", "slot"),
    sa.UniqueConstraint("study_id", "token"),
)
