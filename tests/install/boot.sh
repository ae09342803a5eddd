#!/bin/sh
# boot.sh FOLDER UNITS: becomes systemd, the first process of a small system. Its caller has made namespaces for mounts,
# process ids, control groups, host name, IPC and network, so nothing that this system does reaches the machine.
# FOLDER has the empty folders root and mem, tree with files that are copied over those of the machine, and shared, which
# is /run/shared in the new system. UNITS is where systemd searches units, with colons; it starts test.target there.
# Prints "booting" when only systemd itself can fail.
set -e
folder=$1
units=$2
root=$folder/root
systemd=/usr/lib/systemd/systemd
[ -x $systemd ] || systemd=/lib/systemd/systemd

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$folder/mem"
mkdir "$folder/mem/upper" "$folder/mem/work"
mount -t overlay -o "lowerdir=/,upperdir=$folder/mem/upper,workdir=$folder/mem/work" overlay "$root"
cp -a "$folder/tree/." "$root/"
for path in run tmp var/lib var/log home root; do
	mount -t tmpfs -o mode=755 tmpfs "$root/$path"
done
chmod 1777 "$root/tmp"
mkdir "$root/run/shared"
mount --bind "$folder/shared" "$root/run/shared"
# systemd must not change the machine's settings.
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
	: >"$root/dev/$name"
	mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/shm" "$root/dev/pts"
ln -s /proc/self/fd "$root/dev/fd"
ln -s pts/ptmx "$root/dev/ptmx"
cd "$root"
mkdir -p mnt
pivot_root . mnt
umount -l /mnt
echo booting
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH="$units" SYSTEMD_LOG_TARGET=journal \
	setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio,-sys_boot \
	$systemd --unit=test.target --show-status=0 </dev/null
