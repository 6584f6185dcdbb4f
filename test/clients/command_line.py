"""`openstack accelerator ...` as users run it: each command in a process of its own, which begins with the modules loaded. One line a row."""
import importlib.metadata
import json
import os
import sys
import tempfile
import traceback

from openstackclient import shell

# what the installed clients offer: the words of each command, and where its code is
OFFERED = {tuple(point.name.split("_")): point.value for point in importlib.metadata.entry_points(group="openstack.accelerator.v2")}


def code_of(words):
    try:
        return shell.main(words) or 0
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 70


def run(words):
    """The exit code, and what was printed to standard output and to standard error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = code_of(words)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = [(stream.seek(0), stream.read().decode())[1] for stream in (out, err)]
        return (os.waitstatus_to_exitcode(status), *texts)


def command_of(words):
    """The longest command that the words begin with."""
    return max((command for command in OFFERED if words[: len(command)] == command), key=len, default=())


class CommandLine:
    """The commands with these options. Prints `ok` or `failed` for a row, and `ran` for its command."""

    failures = 0

    def __init__(self, *options):
        self.options = options

    def row(self, *words, expected=0, has=()):
        words = ("accelerator", *words)
        print("ran", " ".join(command_of(words)))
        code, printed, complained = run([*self.options, *words])
        lacking = [text for text in ([has] if isinstance(has, str) else has) if text not in printed + complained]
        well = (code == 0) == (expected == 0) and not lacking
        CommandLine.failures += 0 if well else 1
        print("ok" if well else "failed", " ".join(words[:4]), "" if well else (code, lacking, printed, complained))
        return printed

    def listed(self, *words):
        """What a command that succeeds prints as JSON."""
        return json.loads(self.row(*words, "-f", "json"))


def end():
    """Says which commands there are; the exit code says whether each row was well."""
    for command in OFFERED:
        print("offered", " ".join(command))
    sys.exit(1 if CommandLine.failures else 0)
