#!/bin/sh
# copy-programs.sh FOLDER FILE...: copies programs, links and the libraries that they need into a folder that becomes an image's root.
set -e
into=$1
shift
copy() { # <path>
  real=$(readlink -f "$1")
  for path in "$1" "$real"; do
    # /lib is a link to usr/lib in the image, too.
    case $path in /bin/* | /sbin/* | /lib/* | /lib64/*) path=/usr$path ;; esac
    if [ -e "$into$path" ] || [ -L "$into$path" ]; then continue; fi
    mkdir -p "$into${path%/*}"
    cp -a "$path" "$into$path"
  done
}
mkdir -p "$into/usr/bin" "$into/usr/sbin" "$into/usr/lib" "$into/usr/lib64" "$into/etc" "$into/run"
mkdir -m 1777 "$into/tmp"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$into/$folder"; done
for file in "$@"; do
  copy "$file"
  for library in $(ldd "$file" 2>/dev/null | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do copy "$library"; done
done
