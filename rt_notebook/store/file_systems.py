"""Which file system a path is on, where several hosts' locks or shared memory can't be trusted.

A write-ahead log needs memory that all its users share. On a network mount SQLite may get some
and notice nothing, while another host doesn't see it; so the mount's type decides, not a trial.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_NETWORK: Final = frozenset({
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs4", "orangefs", "pvfs2", "smb3", "smbfs", "vboxsf", "webdav",
    "fuse.cephfs", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.mount-s3",
    "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs", "fuse.vmhgfs-fuse",
})  # fmt: skip
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the type of the network file system that holds `path`, or None.

    Args:
        path: absolute, need not exist.
        mounts: the table of mounts in the form of Linux's mountinfo; None: this system's. Where a
            system has none, nothing is known and None is returned.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return None
    real = path.resolve()
    found, depth = "", -1
    for line in mounts.splitlines():
        point, kind = _mount(line)
        # A later mount on the same point hides the earlier one.
        if kind and len(point.parts) >= depth and real.is_relative_to(point):
            found, depth = kind, len(point.parts)
    return found if found in _NETWORK else None


def _mount(line: str) -> tuple[Path, str]:
    # man 5 proc: 36 35 98:0 /root /mount/point options [optional ...] - type source options
    left, _, right = line.partition(" - ")
    fields = left.split(" ")
    if len(fields) < 5 or not right:
        return Path("/"), ""
    point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), fields[4])
    return Path(point), right.split(" ")[0]
