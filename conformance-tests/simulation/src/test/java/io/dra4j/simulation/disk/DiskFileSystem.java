// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.DiskOperation.Kind;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A disk as one process sees it. */
final class DiskFileSystem extends FileSystem {

    final Disk disk;
    final Owner owner;
    final List<DiskChannel> channels = new ArrayList<>();
    final List<DiskLock> locks = new ArrayList<>(); // those that the process's JVM knows
    boolean isDead;
    private final DiskProvider provider = new DiskProvider(this);

    DiskFileSystem(Disk disk, Owner owner) {
        this.disk = disk;
        this.owner = owner;
    }

    static UnsupportedOperationException unsupported(String what) {
        return new UnsupportedOperationException(
                "The simulated disk has no " + what + ": no code that it runs has used that so far; add it");
    }

    Owner.Outcome before(Kind kind, String path, String target, long bytes) throws IOException {
        Owner.Outcome outcome = owner.before(new DiskOperation(kind, path, target, bytes));
        if (isDead) {
            throw new IllegalStateException("A process that died went on after " + kind + " of " + path
                    + "; its owner has to throw an error before each operation");
        }
        return outcome;
    }

    FileTime now() {
        return FileTime.from(owner.now());
    }

    void die() {
        List.copyOf(channels).forEach(DiskChannel::end);
        isDead = true;
    }

    @Override
    public DiskProvider provider() {
        return provider;
    }

    @Override
    public void close() {
        throw unsupported("close of a mount");
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        throw unsupported("list of roots");
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        throw unsupported("file stores");
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic", "posix", "unix");
    }

    @Override
    public Path getPath(String first, String... more) {
        return new DiskPath(this, Path.of(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher(pattern);
        return path -> matcher.matches(Path.of(path.toString()));
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw unsupported("users");
    }

    @Override
    public WatchService newWatchService() {
        throw unsupported("watch service");
    }
}
