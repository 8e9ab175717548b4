#!/bin/bash
# boot.sh ROOT CGROUP - a Debian's own systemd as the init of name spaces of its own, in a cgroup of its own, a folder that is there:
# nothing of it is seen outside, and nothing but ROOT is seen inside. Its network is loopback and eth0, which leads nowhere.
# For booted.sh, which ends it by a signal to this process.
set -eu
if [ -z "${BOOTED:-}" ]; then
	export BOOTED=yes
	echo $$ >"$2/cgroup.procs"
	exec unshare --kill-child --pid --fork --mount --propagation private --cgroup --uts --ipc --net "$0" "$1"
fi
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 none sys/fs/cgroup
for folder in run tmp dev; do mount -t tmpfs tmpfs $folder; done
for device in null zero full random urandom tty; do
	touch dev/$device
	mount --bind /dev/$device dev/$device
done
mkdir dev/shm dev/pts old
chmod 1777 dev/shm tmp
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
hostname infer-a
ip link set lo up
ip link add eth0 type veth peer name nowhere
ip link set nowhere up
ip link set eth0 up
pivot_root . old
umount -l /old
rmdir /old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
