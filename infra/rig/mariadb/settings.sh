# Settings of the rig, sourced by its scripts: environment first, then defaults.

RIG_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${MARIADB_RIG_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/accelerando/mariadb}"   # server, venv and empty system tables, shared
: "${RIG_SHIFT:=0}"
: "${MARIADB_PORT:=$((13306 + RIG_SHIFT))}"
: "${MARIADB_RIG_DATA:=/var/tmp/mariadb-rig-$(id -u)-$RIG_SHIFT}"              # one server: its data, log and pid

RIG_PASSWORD=rig-secret                                                       # of the user cyborg
VENV="$MARIADB_RIG_CACHE/venv"
OPENSTACK_RIG_DATA="$MARIADB_RIG_DATA"                                        # where lib.sh keeps pids and logs
. "$RIG_DIR/../openstack/lib.sh"

# Finds the server: that of the machine, or the one that `get` unpacked.
server() {
  local at
  unpacked="$MARIADB_RIG_CACHE/server"
  at=$(command -v mariadbd || true)
  [ -n "$at" ] || at=/usr/sbin/mariadbd
  share=/usr/share/mysql libraries=
  if [ ! -x "$at" ]; then
    at="$unpacked/usr/sbin/mariadbd" share="$unpacked/usr/share/mysql"
    libraries=$(echo "$unpacked"/usr/lib/*-linux-gnu)
  fi
  [ -d "$share" ] || share=/usr/share/mariadb
  mariadbd=(env ${libraries:+"LD_LIBRARY_PATH=$libraries"} "$at" --no-defaults --lc-messages-dir="$share")
  # it asks for a user when it is started by root
  [ "$(id -u)" != 0 ] || mariadbd+=(--user=root)
  [ -x "$at" ]
}

# Finds mysqldump: that of the machine, or the one that `get` unpacked.
dump() {
  for mysqldump in /usr/bin/mysqldump /usr/bin/mariadb-dump "$MARIADB_RIG_CACHE/client/usr/bin/mariadb-dump"; do
    [ ! -x "$mysqldump" ] || return 0
  done
  return 1
}
