"""On which file system a folder lies: SQLite's WAL holds for the processes of one machine only."""

from __future__ import annotations

from pathlib import Path

MOUNTS = Path("/proc/mounts")
NETWORKED = {
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.ceph-fuse", "fuse.glusterfs", "fuse.sshfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "virtiofs", "wekafs",
}  # fmt: skip


def file_system(folder: Path) -> str:
    """The kind that holds a folder, or would; nothing where nobody can tell."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return ""
    place = folder.resolve()
    kinds = {len(point): kind for point, kind in mounts if place.is_relative_to(point.replace("\\040", " "))}
    return kinds[max(kinds)] if kinds else ""


def network_file_system(folder: Path) -> str | None:
    """The kind of network file system that holds a folder; None on a disk of this machine, or where nobody can tell."""
    kind = file_system(folder)
    return kind if kind in NETWORKED else None
