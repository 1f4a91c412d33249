"""Ranks on several hosts, which are namespaces of this machine: each has a name, a network interface and a /dev/shm of its own.
The hosts are connected by a switch, whose links can be cut. All of it is within namespaces of this process, so that nothing is
left of it when this process ends, however it ends.

Usage: hosts_test.py <mpiexec> <wa-tor> <test_communicator> <test_distributed_transports> <failing_program>. Exits with 77
(skipped) if mpiexec is not that of Open MPI 4, `ip` is not installed, or namespaces are not permitted.
"""

import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

EXIT_SKIPPED = 77
ISOLATED = "--isolated"
MPIEXEC, *PROGRAMS = sys.argv[1:6]
WA_TOR, COMMUNICATOR, TRANSPORTS, FAILING = (pathlib.Path(path).resolve() for path in PROGRAMS)

# What a host has of its own. The numbers of processes are those of the test, so that it sees the processes of all hosts.
HOST = ("--mount", "--net", "--uts", "--ipc")
AS_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")
ISOLATE = ("unshare", *AS_ROOT, *HOST, "--pid", "--fork", "--kill-child", "--mount-proc")
FOLDER = pathlib.Path("/run")  # which is empty here, and all hosts share
HOSTS = 3
START_SECONDS = 10  # to start and end processes, on a machine that does other things
RUN_SECONDS = 90  # for a test program that takes some ten

# What mpirun calls instead of ssh: <host> <command>...
AGENT = f"""#!/bin/sh
host=$1
shift
exec nsenter --target "$(cat "{FOLDER}/$host")" {" ".join(HOST)} sh -c "$*"
"""


def why_not():
    """Why there can be no hosts here; None if there can be."""
    for program, package in (("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
        if shutil.which(program) is None:
            return f"'{program}' is not installed (Debian, Ubuntu: apt-get install {package})"
    version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False).stdout
    if not re.search(r"\((Open MPI|OpenRTE)\) 4\.", version):
        return f"{MPIEXEC} is not the launcher of Open MPI 4"
    attempt = (f"mount -t tmpfs tmpfs {FOLDER}", "hostname host1", "ip link add switch type bridge", "ip link add host1 type veth peer name eth0")
    result = subprocess.run([*ISOLATE, "sh", "-c", " && ".join(attempt)], capture_output=True, text=True, check=False)
    return None if result.returncode == 0 else f"no permission to make namespaces with networks: {result.stderr.strip()}"


def address(host):
    return f"10.0.0.{host}"


def ip(*arguments, at=()):
    subprocess.run([*at, "ip", *map(str, arguments)], check=True)


class Network:
    """host1, host2 and so on, and what connects them."""

    def __init__(self):
        self.processes = []
        self.agent = FOLDER / "agent"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)
        ip("link", "add", "switch", "type", "bridge")
        ip("link", "set", "switch", "up")
        for host in range(1, HOSTS + 1):
            self.add(host)

    def add(self, host):
        begin = f"hostname host{host} && mount -t tmpfs tmpfs /dev/shm && ip link set lo up && echo up && exec sleep infinity"
        process = subprocess.Popen(["unshare", *HOST, "sh", "-c", begin], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        if process.stdout.readline() != "up\n":
            raise RuntimeError(f"host{host} does not start")
        (FOLDER / address(host)).write_text(str(process.pid))
        ip("link", "add", f"host{host}", "type", "veth", "peer", "name", "eth0", "netns", process.pid)
        ip("link", "set", f"host{host}", "master", "switch", "up")
        ip("address", "add", f"{address(host)}/24", "dev", "eth0", at=self.at(host))
        ip("link", "set", "eth0", "up", at=self.at(host))

    def close(self):
        for host in range(1, HOSTS + 1):
            ip("link", "delete", f"host{host}")
        ip("link", "delete", "switch")
        for process in self.processes:
            process.kill()
            process.communicate()

    def at(self, host):
        """What comes before a command that runs there."""
        return "nsenter", "--target", (FOLDER / address(host)).read_text(), *HOST

    def set_link(self, host, state):
        ip("link", "set", f"host{host}", state)

    def mpirun(self, ranks, *command, folder=FOLDER, parameters=()):
        """A command that host1 runs. @param ranks   of each host"""
        hosts = ",".join(f"{address(host)}:{number}" for host, number in enumerate(ranks, 1))
        chosen = {"plm_rsh_agent": self.agent, "oob_tcp_if_include": "eth0", "pml": "ob1", "btl": "self,tcp", "btl_tcp_if_include": "eth0",
                  **dict(parameters)}
        return [*self.at(1), f"--wd={folder}", MPIEXEC, "--host", hosts, "-n", str(sum(ranks)), "--bind-to", "none",
                *(text for name, value in chosen.items() for text in ("--mca", name, str(value))), *map(str, command)]


def ranks_left():
    """The numbers of the processes that run the failing program, on all hosts."""
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text(encoding="utf-8").rpartition(")")
        except OSError:
            continue
        if name.endswith(f"({FAILING.name[:15]}") and rest.split()[0] not in "ZX":
            left.append(int(path.parent.name))
    return left


class Hosts(unittest.TestCase):
    def setUp(self):
        self.network = Network()
        self.addCleanup(self.network.close)
        folder = tempfile.TemporaryDirectory(dir=FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, ranks, *command):
        result = subprocess.run(self.network.mpirun(ranks, *command, folder=self.folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, timeout=RUN_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def test_ranks_are_where_they_should_be(self):
        show = "echo $OMPI_COMM_WORLD_RANK is number $OMPI_COMM_WORLD_LOCAL_RANK of $(hostname)"
        self.assertEqual(sorted(self.run_on((1, 2, 1), "sh", "-c", show).splitlines()),
                         ["0 is number 0 of host1", "1 is number 0 of host2", "2 is number 1 of host2", "3 is number 0 of host3"])

    def test_communicators_number_the_ranks_of_each_host(self):
        self.assertIn("Status: SUCCESS!", self.run_on((1, 2, 1), COMMUNICATOR, "--no-colors"))

    def test_ghosts_are_exchanged_and_no_memory_is_shared(self):
        output = self.run_on((1, 1, 1), TRANSPORTS, "--no-colors")
        self.assertIn("Status: SUCCESS!", output)
        self.assertRegex(output, r"cannot be exchanged with Transport::peer: rank 0: its neighbour is rank \d, and they do not share /dev/shm")

    def test_wa_tor_writes_what_one_process_writes(self):
        options = ("--width", "70", "--height", "40", "--steps", "30", "--chart", "none", "--picture", "none", "--quiet", "--log")
        subprocess.run([WA_TOR, *options, self.folder / "alone.csv"], capture_output=True, timeout=RUN_SECONDS, check=True)
        self.run_on((2, 2), WA_TOR, *options, "hosts.csv")
        self.assertTrue(filecmp.cmp(self.folder / "alone.csv", self.folder / "hosts.csv", shallow=False))

    def cut(self, patience, parameters=()):
        """Cuts the link of host3 while three ranks run. @return the launcher"""
        command = self.network.mpirun((1, 1, 1), "--output-filename", self.folder / "ranks", FAILING, "endless", "0", patience,
                                      folder=self.folder, parameters=parameters)
        with (self.folder / "output").open("w", encoding="utf-8") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_until(lambda: "rank 0 goes on and on" in self.output() or process.poll() is not None, START_SECONDS)
        self.assertEqual(len(ranks_left()), 3, self.output())
        self.network.set_link(3, "down")
        return process

    def output(self):
        return (self.folder / "output").read_text(encoding="utf-8")

    def errors_of(self, rank):
        """What it has printed, as its own host has noted it."""
        return "".join(path.read_text(encoding="utf-8") for path in self.folder.glob(f"ranks/*/rank.{rank}/stderr"))

    def wait_until(self, condition, seconds):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, seconds, self.output())
            time.sleep(0.05)
        return time.monotonic() - begin

    def test_ranks_on_both_sides_of_a_cut_link_end_in_time_with_a_message_that_names_a_rank(self):
        patience = 2
        process = self.cut(patience)
        seconds = self.wait_until(lambda: not ranks_left(), 1.1 * patience + 2 + START_SECONDS)
        print(f"cut link: {seconds:.1f} s")
        waits = r"on host{} has waited 2(\.\d)? s in (exchange|agree) for {},"
        self.assertRegex(self.output(), r"rank [01] of 3 " + waits.format("[12]", "rank 2"))
        self.assertRegex(self.errors_of(2), r"rank 2 of 3 " + waits.format(3, "(rank [01]|ranks 0 and 1)"))
        # mpirun waits for host3. What rank 2 has printed arrives when the link is back.
        self.assertIsNone(process.poll(), self.output())
        self.network.set_link(3, "up")
        self.assertNotEqual(process.wait(timeout=RUN_SECONDS), 0)
        self.assertRegex(self.output(), r"rank 2 of 3 on host3 has waited")

    def test_a_launcher_that_probes_its_connections_ends_the_run_on_both_sides_of_a_cut_link(self):
        probes = {"oob_tcp_keepalive_time": 1, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 2}
        process = self.cut(300, probes)
        self.assertNotEqual(process.wait(timeout=4 + START_SECONDS), 0)
        self.assertIn("lost communication with a remote daemon", self.output())
        self.wait_until(lambda: not ranks_left(), START_SECONDS)


def main():
    if sys.argv[-1] != ISOLATED:
        reason = why_not()
        if reason is not None:
            print(f"skipped: {reason}")
            return EXIT_SKIPPED
        sys.stdout.flush()
        os.execvp(ISOLATE[0], [*ISOLATE, sys.executable, *sys.argv, ISOLATED])
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", FOLDER], check=True)
    os.environ |= {"TMPDIR": str(FOLDER), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # which each user is here
    unittest.main(argv=sys.argv[:1], verbosity=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
