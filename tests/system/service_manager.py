#!/usr/bin/env python3
"""service_manager.py DIARY [NAME=KIND:IP:PORT]... -- PROGRAM ARG... - a stand-in for systemd, for tests.

Holds the sockets (KIND tcp or udp), starts the program with them (LISTEN_FDS) and with a notify socket. SIGUSR1
replaces the process: the old one gets SIGTERM, and the next is started when it is gone. SIGTERM ends both. What it does
and what it is told are lines of the file DIARY.
"""
import os
import select
import signal
import socket
import sys
import tempfile

def say(*words):
    with open(sys.argv[1], "a", encoding="ascii") as diary:
        print(*words, file=diary)

def main():
    split = sys.argv.index("--")
    program, held = sys.argv[split + 1:], []
    for argument in sys.argv[2:split]:
        name, _, where = argument.partition("=")
        kind, _, address = where.partition(":")
        host, _, port = address.rpartition(":")
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
        if kind == "tcp":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, int(port)))
        if kind == "tcp":
            sock.listen(1024)
        held.append((name, sock))
    with tempfile.TemporaryDirectory() as folder:
        serve(program, held, os.path.join(folder, "notify"))

def start(program, held, notify):
    pid = os.fork()
    if pid:
        say("started", pid)
        return pid
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    for i, (_, sock) in enumerate(held):  # out of the way first, then to 3, 4, ...
        os.dup2(sock.fileno(), 100 + i)
    for i in range(len(held)):
        os.dup2(100 + i, 3 + i)
        os.close(100 + i)
    environment = dict(os.environ, NOTIFY_SOCKET=notify, WATCHDOG_USEC="400000")
    if held:
        environment.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(held)),
                           LISTEN_FDNAMES=":".join(name for name, _ in held))
    os.execve(program[0], program, environment)

def serve(program, held, notify):
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(notify)
    os.chmod(os.path.dirname(notify), 0o711)  # the program may be another user's
    os.chmod(notify, 0o666)
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken)
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    pid, ending = start(program, held, notify), False
    while True:
        ready, _, _ = select.select([told, wake], [], [])
        if told in ready:
            say(told.recv(4096).decode())
        if wake not in ready:
            continue
        for number in os.read(wake, 64):
            ending |= number == signal.SIGTERM
            if number in (signal.SIGUSR1, signal.SIGTERM):
                os.kill(pid, signal.SIGTERM)
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone:
            say("ended", gone, os.waitstatus_to_exitcode(status))
            if ending or status:
                return
            pid = start(program, held, notify)

main()
