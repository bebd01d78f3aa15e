#!/bin/sh
# prepare.sh PLACE PYTHON: puts a command PLACE/python there, which runs Python for AArch64 with what tileir needs under
# an emulator. Needs Debian (apt-get, dpkg) and qemu-aarch64 (its package qemu-user); changes nothing but PLACE.
# PYTHON is one of this machine, with pip.
set -eu
mkdir -p "$1"
place=$(cd "$1" && pwd)
command -v qemu-aarch64 > /dev/null || { echo "needs qemu-aarch64: apt-get install qemu-user" >&2; exit 2; }

# Packages of a system for AArch64, by lists of their own.
mkdir -p "$place/lists/partial" "$place/archives/partial" "$place/system" "$place/packages"
apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
        -o Dir::State::Lists="$place/lists" -o Dir::State::Status=/dev/null -o Dir::Cache="$place" "$@" > /dev/null
}
apt update
apt install --yes --no-install-recommends --download-only python3 libstdc++6
for package in "$place"/archives/*.deb; do dpkg --extract "$package" "$place/system"; done

cat > "$place/python" << END
#!/bin/sh
export PYTHONPATH="\$PWD:$place/packages" TILEIR_CACHE_DIR="$place/cache"
exec qemu-aarch64 -L "$place/system" "$place/system/usr/bin/python3" "\$@"
END
chmod +x "$place/python"

version=$("$place/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
platforms=$(printf ' --platform manylinux_2_%s_aarch64' 17 27 28)
# shellcheck disable=SC2086
"$2" -m pip --disable-pip-version-check install -q --only-binary=:all: $platforms --python-version "$version" \
    --target "$place/packages" --upgrade numpy llvmlite ml_dtypes rich pytest hypothesis typing_extensions
