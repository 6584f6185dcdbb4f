# Boots a systemd of its own, in namespaces that end with it, and runs one unit there: bootUnit.sh FOLDER UNIT CHECKOUT NODE SYSTEMD
# FOLDER holds `units` (with the unit and its drop-in) and `accelerando.toml`. Changes nothing outside of the namespaces: /etc is a copy,
# /run and /var/lib are empty, the checkout is at /run/checkout and the Node of this machine at /run/node.
set -euo pipefail
mount -t tmpfs tmpfs /run
mkdir -p /run/none /run/etc /run/lib /run/checkout
touch /run/node /run/console
mount --bind "$3" /run/checkout
mount --bind "$4" /run/node
mount --bind /run/console /dev/console
cp -a /etc/. /run/etc
mkdir -p /run/etc/accelerando
cp "$1/accelerando.toml" /run/etc/accelerando/
mount --bind /run/etc /etc
mount --bind /run/lib /var/lib
systemd-sysusers "$3/infra/systemd/accelerando.sysusers"
while umount /sys/fs/cgroup 2>/dev/null; do :; done
mount -t cgroup2 cgroup2 /sys/fs/cgroup
printf '[Unit]\nDefaultDependencies=no\nWants=%s\n' "$2" >"$1/units/boot.target"
exec env -i PATH="$PATH" container=test SYSTEMD_UNIT_PATH="$1/units" SYSTEMD_GENERATOR_PATH=/run/none \
  SYSTEMD_LOG_TARGET=console "$5" --system --unit=boot.target --show-status=0
