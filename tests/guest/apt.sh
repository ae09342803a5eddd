# Debian's packages, fetched with private state and unpacked into folders: installed packages are not changed.
# shellcheck shell=bash

die() { echo "${0##*/}: $*" >&2; exit 125; }
say() { echo "${0##*/}: $*" >&2; }

apt_sources=() # options

# apt_in STATE ARCH STATUS PROGRAM ARGS...: apt with all of its state in STATE; only the sources (if apt_sources has no
# others), keys and proxy settings are the machine's.
apt_in() {
	local d=$1 a=$2 status=$3 program=$4
	shift 4
	mkdir -p "$d"/{lists,archives}/partial
	"$program" -q -o APT::Architecture="$a" -o APT::Architectures::="$a" \
		-o Dir::State="$d" -o Dir::State::lists="$d/lists" \
		-o Dir::State::status="$status" -o Dir::Log="$d" \
		-o Dir::Cache="$d" -o Dir::Cache::archives="$d/archives" \
		"${apt_sources[@]}" -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0 \
		-o Acquire::Retries=3 -o Acquire::Languages=none -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

# The index of one suite may be broken for a while; those of the others usually are not.
update() {
	type -P apt-get >/dev/null || die "there is no apt-get here, which fetches Debian's packages"
	[ ! -e "$1/updated" ] || return 0
	apt_in "$@" apt-get update >"$1.log" 2>&1 || say "apt-get update ($2) had errors, going on"
	: >"$1/updated"
}

# apt_get STATE ARCH STATUS ARGS...
apt_get() {
	local d=$1
	update "$1" "$2" "$3"
	apt_in "$1" "$2" "$3" apt-get "${@:4}" >>"$d.log" 2>&1 ||
		die "cannot be had: ${*:4} ($(grep -m 1 '^E: ' "$d.log" || tail -n 1 "$d.log"))"
}

# fetch STATE ARCH STATUS PACKAGE...: the packages, and what they need beyond STATUS, into STATE/archives.
fetch() {
	apt_get "$1" "$2" "$3" -y --download-only --no-install-recommends install "${@:4}"
}

# unpack DEB FOLDER [TAR-ARGS...]
unpack() {
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink --no-same-owner "${@:3}"
}

merged_usr() {
	mkdir -p "$1"/usr/{bin,lib,sbin}
	ln -s usr/bin usr/lib usr/sbin "$1"
}

# derive_sources FOLDER SUITE: the machine's package sources, in both forms of files, with SUITE instead of its own suite.
derive_sources() {
	local own f n=0 suite=$2
	own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	[ -n "$own" ] || die "this system does not say which suite it is of"
	mkdir -p "$1"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ -f "$f" ] || continue
		n=$((n + 1))
		case $f in
		*.list) sed -n "s/^\(deb .*\) $own \(.*\)/\1 $suite \2/p" "$f" >"$1/$n.list" ;;
		*.sources)
			awk -v RS= -v ORS='\n\n' -v own="$own" -v suite="$suite" \
				'match($0, "\nSuites:[^\n]* " own "( [^\n]*)?\n") {
					sub(/\nSuites:[^\n]*/, "\nSuites: " suite); print }' "$f" >"$1/$n.sources"
			;;
		esac
	done
	find "$1" -size 0 -delete
	[ -n "$(ls "$1")" ] || die "no source of packages of this machine names its suite, $own"
	apt_sources=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$1")
}
