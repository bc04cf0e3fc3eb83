"""A Django project of one application, whose migrations run against a source.

In a process of its own: Django's settings are global.
"""
import json
import os
import subprocess
import sys
import textwrap

SETTINGS = """
import json, os
SECRET_KEY = "test"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": json.loads(os.environ["SHOP_DB"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
"""

MIGRATION = """
import datetime, uuid
from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    initial = %(initial)s
    dependencies = [%(after)s]
    operations = [
%(operations)s
    ]
"""


def login(db):
    """Django's settings of a Db or a MyDb."""
    server = db.server
    if hasattr(server, "sockdir"):
        return {"ENGINE": "django.db.backends.postgresql", "NAME": db.name, "USER": "postgres",
                "HOST": server.sockdir, "PORT": str(server.port)}
    return {"ENGINE": "django.db.backends.mysql", "NAME": db.name, "USER": "root", "HOST": server.socket,
            "OPTIONS": {"charset": "utf8mb4"}}


class DjangoApp:
    """migrations: [(name, source text of the operations)] in order."""

    def __init__(self, folder, db, migrations):
        self.folder = str(folder)
        self.names = [name for name, _ in migrations]
        self.env = dict(os.environ, DJANGO_SETTINGS_MODULE="settings", PYTHONDONTWRITEBYTECODE="1",
                        PYTHONPATH=self.folder,
                        SHOP_DB=json.dumps(login(db)))
        self._write("settings.py", SETTINGS)
        self._write("shop/__init__.py", "")
        self._write("shop/models.py", "")
        self._write("shop/migrations/__init__.py", "")
        after = ""
        for name, operations in migrations:
            self._write("shop/migrations/%s.py" % name, MIGRATION % {
                "initial": not after, "after": after,
                "operations": textwrap.indent(textwrap.dedent(operations).strip(), " " * 8)})
            after = '("shop", "%s")' % name

    def _write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def migrate(self, name):
        """manage.py migrate shop NAME; returns nothing, raises with its output."""
        done = subprocess.run(
            [sys.executable, "-m", "django", "migrate", "shop", name, "--verbosity", "2"],
            cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=120, text=True)
        assert done.returncode == 0, done.stdout


# -- the migrations of an application -----------------------------------------

INITIAL = """
migrations.CreateModel(name="Author", fields=[
    ("id", models.BigAutoField(primary_key=True, serialize=False)),
    ("name", models.CharField(max_length=30)),
    ("born", models.DateField(null=True)),
]),
migrations.CreateModel(name="Book", fields=[
    ("id", models.BigAutoField(primary_key=True, serialize=False)),
    ("title", models.CharField(max_length=40)),
    ("pages", models.IntegerField(default=0)),
    ("price", models.DecimalField(max_digits=6, decimal_places=2, default=1)),
    ("note", models.TextField(blank=True)),
    ("author", models.ForeignKey(to="shop.Author", on_delete=django.db.models.deletion.CASCADE)),
]),
"""

# each crosses by itself
CROSSING = [
    ("0002_add_default", """migrations.AddField("Book", "state", models.CharField(max_length=10, default="new")),"""),
    ("0003_add_null", """migrations.AddField("Book", "read_at", models.DateTimeField(null=True)),"""),
    ("0004_add_json", """migrations.AddField("Author", "extra", models.JSONField(default=dict)),"""),
    ("0005_longer", """migrations.AlterField("Book", "title", models.CharField(max_length=80)),"""),
    ("0006_bigger", """migrations.AlterField("Book", "pages", models.BigIntegerField(default=0)),"""),
    ("0007_decimal", """migrations.AlterField("Book", "price", models.DecimalField(max_digits=10, decimal_places=2, default=1)),"""),
    ("0008_rename", """migrations.RenameField("Book", "note", "remark"),"""),
    ("0009_remove", """migrations.RemoveField("Author", "born"),"""),
    ("0010_flags", """
        migrations.AddField("Book", "sold", models.BooleanField(default=False)),
        migrations.AddField("Book", "stock", models.SmallIntegerField(null=True)),
    """),
    ("0011_index", """migrations.AddIndex("Book", models.Index(fields=["title"], name="book_title")),"""),
    ("0012_uuid", """migrations.AddField("Author", "code", models.UUIDField(null=True)),"""),
]
CHECK = """
    migrations.AddConstraint("Book", models.CheckConstraint(
        check=models.Q(pages__gte=0), name="book_pages_positive")),
"""
