"""Makes upstream's tables from its models, on a PostgreSQL: `from_models.py URL`.

Upstream's migrations do not run there: an enumeration without a name is none on PostgreSQL. The models lack one name, too; it is given here.
"""
import hashlib
import sys

import sqlalchemy

plain = sqlalchemy.Enum.__init__


def named(self, *values, **options):
    options.setdefault("name", "enum_" + hashlib.sha1(repr(values).encode()).hexdigest()[:8])
    plain(self, *values, **options)


sqlalchemy.Enum.__init__ = named

from cyborg.db.sqlalchemy import models  # noqa: E402  (after the change above)

models.Base.metadata.create_all(sqlalchemy.create_engine(sys.argv[1]))
