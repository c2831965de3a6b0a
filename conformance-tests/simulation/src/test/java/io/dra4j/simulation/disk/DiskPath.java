// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.jspecify.annotations.Nullable;

/** A path of a mount, with the arithmetic of a path of this machine, which must be a Unix system. */
record DiskPath(DiskFileSystem mount, Path path) implements Path {

    private DiskPath with(Path other) {
        return new DiskPath(mount, other);
    }

    private @Nullable DiskPath withNullable(@Nullable Path other) {
        return other == null ? null : with(other);
    }

    private static Path plain(Path other) {
        if (other instanceof DiskPath of) {
            return of.path;
        }
        throw new ProviderMismatchException();
    }

    @Override
    public FileSystem getFileSystem() {
        return mount;
    }

    @Override
    public boolean isAbsolute() {
        return path.isAbsolute();
    }

    @Override
    public @Nullable Path getRoot() {
        return withNullable(path.getRoot());
    }

    @Override
    public @Nullable Path getFileName() {
        return withNullable(path.getFileName());
    }

    @Override
    public @Nullable Path getParent() {
        return withNullable(path.getParent());
    }

    @Override
    public int getNameCount() {
        return path.getNameCount();
    }

    @Override
    public Path getName(int index) {
        return with(path.getName(index));
    }

    @Override
    public Path subpath(int from, int to) {
        return with(path.subpath(from, to));
    }

    @Override
    public boolean startsWith(Path other) {
        return other instanceof DiskPath of && path.startsWith(of.path);
    }

    @Override
    public boolean endsWith(Path other) {
        return other instanceof DiskPath of && path.endsWith(of.path);
    }

    @Override
    public Path normalize() {
        return with(path.normalize());
    }

    @Override
    public Path resolve(Path other) {
        return with(path.resolve(plain(other)));
    }

    @Override
    public Path relativize(Path other) {
        return with(path.relativize(plain(other)));
    }

    @Override
    public URI toUri() {
        throw DiskFileSystem.unsupported("URIs");
    }

    @Override
    public Path toAbsolutePath() {
        return isAbsolute() ? this : with(Path.of("/").resolve(path));
    }

    @Override
    public Path toRealPath(LinkOption... options) throws IOException {
        mount.provider().checkAccess(this);
        return toAbsolutePath().normalize(); // because there are no symbolic links
    }

    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw DiskFileSystem.unsupported("watch service");
    }

    @Override
    public int compareTo(Path other) {
        return path.compareTo(plain(other));
    }

    @Override
    public int hashCode() {
        return path.hashCode(); // without the mount's hash code, which would differ from run to run
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DiskPath of && mount == of.mount && path.equals(of.path);
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
