// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.Node.Directory;
import io.dra4j.simulation.disk.Node.Entry;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The disk of one node: what is durable, and what is in the page cache.
 *
 * <p>A sync of a file makes its content durable, not its name; a sync of a directory makes its names durable. What a
 * process wrote outlives the process. Permissions and times are durable immediately. Not thread-safe: one thread of a
 * simulation runs at a time.
 */
public final class Disk {

    private static final int FIRST_INODE = 2;

    private final Directory root = new Directory(FIRST_INODE, false, 0755, FileTime.fromMillis(0));
    private final List<Change> changes = new ArrayList<>(); // of names, not durable yet, in order
    private final List<DiskFileSystem> mounts = new ArrayList<>();
    private final BitSet inodes = new BitSet();
    private long capacity = Long.MAX_VALUE;
    private long used;
    private long temporaryFiles;

    public Disk() {
        root.links = 1;
        root.durableLinks = 1;
        inodes.set(0, FIRST_INODE + 1);
    }

    /** Names that change together or not at all; equal only to itself. */
    private static final class Change {

        final List<Entry> entries;
        final List<Directory> directories;

        Change(List<Entry> entries) {
            this.entries = entries;
            this.directories = entries.stream().map(Entry::directory).distinct().toList();
        }
    }

    /** Returns the disk as one process sees it, until {@link #died}, with paths as on Linux. */
    public FileSystem mount(Owner owner) {
        DiskFileSystem mount = new DiskFileSystem(this, owner);
        mounts.add(mount);
        return mount;
    }

    /**
     * Ends the mounts of a process: its channels no longer have an effect, and its locks are free.
     *
     * <p>Call it when the process is killed, before one of its threads runs again.
     */
    public void died(Owner owner) {
        mounts.stream().filter(mount -> mount.owner == owner).forEach(DiskFileSystem::die);
        mounts.removeIf(mount -> mount.owner == owner);
    }

    /** Returns the disk as seen from outside of its processes, regardless of what happens to them. */
    public FileSystem outside(Owner owner) {
        return new DiskFileSystem(this, owner);
    }

    /** Creates a directory that the next reboot empties; its content takes no space on the disk. */
    public void temporary(String path) {
        Directory at = root;
        for (Path name : Path.of(path)) {
            Directory in = at;
            at = (Directory) in.entries.computeIfAbsent(name.toString(), any -> {
                Directory made =
                        new Directory(nextInode(), name.equals(Path.of(path).getFileName()), 0755, in.modified);
                made.links = 1;
                made.durableLinks = 1;
                in.durable.put(name.toString(), made);
                return made;
            });
        }
    }

    /** Limits the bytes that all files take, in blocks of 4096; writes beyond it fail with {@code ENOSPC}. */
    public void capacity(long bytes) {
        capacity = bytes;
    }

    /** Returns the bytes that all files take, including those that are deleted and still open. */
    public long used() {
        return used;
    }

    /** Makes everything durable. */
    public void sync() {
        changes.forEach(this::writeBack);
        changes.clear();
        forEachFile(root, RegularFile::sync);
    }

    /** Ends all mounts, after a sync, and empties the temporary directories. */
    public void reboot() {
        sync();
        restart(new Random(0)); // it draws nothing, because everything is synced
    }

    /**
     * Ends all mounts, and loses what is not synced, or parts of it.
     *
     * <p>Of the changes to a directory's names, the first ones survive, a rename as a whole; of the changes to a file,
     * any may survive, by sectors of 512 bytes, with any of its lengths.
     */
    public void losePower(RandomGenerator random) {
        Map<Directory, Integer> counts = new IdentityHashMap<>();
        changes.forEach(change -> change.directories.forEach(directory -> counts.merge(directory, 1, Integer::sum)));
        Map<Directory, Integer> left = new IdentityHashMap<>();
        for (Change change : changes) {
            change.directories.forEach(directory ->
                    left.computeIfAbsent(directory, any -> RegularFile.cut(random, counts.get(directory))));
            boolean survives = change.directories.stream().allMatch(directory -> left.get(directory) > 0);
            change.directories.forEach(directory -> left.merge(directory, 1, (n, one) -> survives ? n - one : 0));
            if (survives) {
                writeBack(change);
            }
        }
        changes.clear();
        restart(random);
    }

    private void restart(RandomGenerator random) {
        List.copyOf(mounts).forEach(mount -> died(mount.owner));
        List<Node> found = new ArrayList<>();
        restore(root, found);
        found.forEach(node -> node.links = 0);
        inodes.clear();
        inodes.set(0, FIRST_INODE + 1);
        used = 0;
        for (Node node : found) {
            if (node.links++ == 0) {
                inodes.set(node.inode);
                if (node instanceof RegularFile file) {
                    file.losePower(random);
                }
                used += node.space();
            }
            node.durableLinks = node.links;
        }
    }

    private static void restore(Directory directory, List<Node> found) {
        directory.entries.clear();
        directory.entries.putAll(directory.durable);
        for (Node node : directory.entries.values()) {
            found.add(node);
            if (node instanceof Directory child) {
                restore(child, found);
            }
        }
    }

    private static void forEachFile(Directory directory, Consumer<RegularFile> action) {
        for (Node node : directory.entries.values()) {
            if (node instanceof Directory child) {
                forEachFile(child, action);
            } else if (node instanceof RegularFile file) {
                action.accept(file);
            }
        }
    }

    Place place(String path) throws IOException {
        return Place.of(root, path);
    }

    int nextInode() {
        int inode = inodes.nextClearBit(0); // may be that of a deleted file, as in ext4
        inodes.set(inode);
        return inode;
    }

    /** Changes names together. */
    void change(FileTime now, Entry... entries) {
        for (Entry entry : entries) {
            entry.directory().modified = now;
            Node node = entry.node();
            if (node != null) {
                count(node, 1, 0, 0);
            }
            Node old = replace(entry.directory().entries, entry);
            if (old != null) {
                count(old, -1, 0, 0);
            }
        }
        if (!entries[0].directory().isTemporary) {
            changes.add(new Change(List.of(entries)));
            if (changes.size() > RegularFile.CACHED) {
                writeBack(changes.remove(0));
            }
        }
    }

    private static @Nullable Node replace(Map<String, Node> names, Entry entry) {
        Node node = entry.node();
        return node == null ? names.remove(entry.name()) : names.put(entry.name(), node);
    }

    private void writeBack(Change change) {
        for (Entry entry : change.entries) {
            Node node = entry.node();
            if (node != null) {
                count(node, 0, 0, 1);
            }
            Node old = replace(entry.directory().durable, entry);
            if (old != null) {
                count(old, 0, 0, -1);
            }
        }
    }

    /** Makes the names of a directory durable, with all changes that they depend on. */
    void sync(Directory directory) {
        Set<Directory> reached = Collections.newSetFromMap(new IdentityHashMap<>());
        reached.add(directory);
        List<Change> durable = new ArrayList<>();
        for (int i = changes.size() - 1; i >= 0; i--) {
            Change change = changes.get(i);
            if (!Collections.disjoint(change.directories, reached)) {
                reached.addAll(change.directories);
                durable.add(0, change);
            }
        }
        changes.removeAll(durable);
        durable.forEach(this::writeBack);
    }

    void count(Node node, int links, int opens, int durableLinks) {
        boolean wasUsed = node.isUsed();
        node.links += links;
        node.opens += opens;
        node.durableLinks += durableLinks;
        if (wasUsed && !node.isUsed()) {
            used -= node.space();
        }
        if (!node.isUsed() && node.durableLinks == 0) {
            inodes.clear(node.inode);
        }
    }

    /** Writes as many of the bytes as there is room for. */
    int write(RegularFile file, int position, byte[] bytes) {
        long longest = file.isTemporary ? Long.MAX_VALUE : Math.max(file.length(), room() + file.space());
        int fitting = (int) Math.max(0, Math.min(bytes.length, longest - position));
        used -= file.space();
        file.write(position, fitting == bytes.length ? bytes : Arrays.copyOf(bytes, fitting));
        used += file.space();
        return fitting;
    }

    private long room() {
        return (capacity - used) / RegularFile.PAGE * RegularFile.PAGE;
    }

    void truncate(RegularFile file, long length) {
        used -= file.space();
        file.truncate((int) Math.min(length, file.length()));
        used += file.space();
    }

    /** Creates a file with a numbered name; replaces {@link Files#createTempFile}, which draws one. */
    public static Path createTempFile(Path directory, String prefix, String suffix, FileAttribute<?>... attributes)
            throws IOException {
        if (!(directory.getFileSystem() instanceof DiskFileSystem mount)) {
            return Files.createTempFile(directory, prefix, suffix, attributes);
        }
        FileAttribute<?> own = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        return Files.createFile(
                directory.resolve(prefix + ++mount.disk.temporaryFiles + suffix),
                attributes.length == 0 ? new FileAttribute<?>[] {own} : attributes);
    }

    /** Returns the content of a file that survives every power failure, if its name is durable. */
    public static Optional<byte[]> durable(Path path) throws IOException {
        if (!(path instanceof DiskPath of)) {
            return Files.exists(path) ? Optional.of(Files.readAllBytes(path)) : Optional.empty();
        }
        Node node = of.mount().disk.root;
        for (Path name : of.path()) {
            node = node instanceof Directory in ? in.durable.get(name.toString()) : null;
        }
        return node instanceof RegularFile file ? Optional.of(file.durable()) : Optional.empty();
    }

    /** Returns a line for each name, sorted: its path, permissions and length, and how many changes are not durable. */
    public String tree() {
        StringBuilder lines = new StringBuilder();
        print("", root, lines);
        return lines.toString();
    }

    private void print(String path, Node node, StringBuilder lines) {
        String permissions = Integer.toOctalString(node.permissions);
        if (node instanceof RegularFile file) {
            lines.append("%s %s %d, unsynced: %d%n".formatted(path, permissions, file.length(), file.unsynced()));
        } else if (node instanceof Directory directory) {
            long unsynced = changes.stream()
                    .filter(change -> change.directories.contains(directory))
                    .count();
            lines.append("%s/ %s, unsynced: %d%n".formatted(path, permissions, unsynced));
            directory.entries.forEach((name, child) -> print(path + "/" + name, child, lines));
        }
    }
}
