// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.DiskOperation.Kind;
import io.dra4j.simulation.disk.Node.Directory;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The operations of a mount, with the errors that the JDK's provider for Linux throws. */
final class DiskProvider extends FileSystemProvider {

    private final DiskFileSystem mount;

    DiskProvider(DiskFileSystem mount) {
        this.mount = mount;
    }

    private String text(Path path) {
        if (path instanceof DiskPath of && of.mount() == mount) {
            return path.toAbsolutePath().toString();
        }
        throw new ProviderMismatchException("A path of another process or file system: " + path);
    }

    /** Finds a path once its operation has been allowed. */
    private Place place(Kind kind, Path path) throws IOException {
        mount.before(kind, text(path), "", 0);
        return mount.disk.place(text(path));
    }

    private Node node(Kind kind, Path path) throws IOException {
        return place(kind, path).existing(path.toString());
    }

    private static FileSystemException error(String path, String reason) {
        return new FileSystemException(path, null, reason);
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
        return newFileChannel(path, options, attributes);
    }

    @Override
    public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        boolean isAppended = options.contains(StandardOpenOption.APPEND);
        boolean isWritten = isAppended || options.contains(StandardOpenOption.WRITE);
        boolean isNew = isWritten && options.contains(StandardOpenOption.CREATE_NEW);
        boolean isMade = isNew || isWritten && options.contains(StandardOpenOption.CREATE);
        boolean isCut = isWritten && options.contains(StandardOpenOption.TRUNCATE_EXISTING);
        if (isAppended && (isCut || options.contains(StandardOpenOption.READ))) {
            throw new IllegalArgumentException("APPEND with READ or TRUNCATE_EXISTING");
        }
        if (isNew && path.endsWith(mount.getPath("."))) {
            throw new FileAlreadyExistsException(path.toString()); // like the JDK, without a look at the file
        }
        Place place = place(isMade ? Kind.CREATE : Kind.OPEN, path);
        if (place.node() != null && isNew) {
            throw new FileAlreadyExistsException(path.toString());
        }
        Node node = place.node() == null && isMade ? newFile(place, attributes) : place.existing(path.toString());
        if (isWritten && node instanceof Directory) {
            throw error(path.toString(), "Is a directory");
        }
        if (isCut) {
            mount.disk.truncate((RegularFile) node, 0);
        }
        return new DiskChannel(mount, path.toString(), node, options);
    }

    private Node newFile(Place place, FileAttribute<?>... attributes) {
        int mode = DiskAttributes.mode(0666, attributes);
        Node node = new RegularFile(mount.disk.nextInode(), place.directory().isTemporary, mode, mount.now());
        mount.disk.change(mount.now(), place.with(node));
        return node;
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(Path path, DirectoryStream.Filter<? super Path> filter)
            throws IOException {
        Node node;
        try {
            node = node(Kind.LIST, path);
        } catch (FileSystemException e) {
            throw Place.NOT_A_DIRECTORY.equals(e.getReason()) ? new NotDirectoryException(path.toString()) : e;
        }
        if (!(node instanceof Directory directory)) {
            throw new NotDirectoryException(path.toString());
        }
        List<Path> found = new ArrayList<>();
        for (String name : List.copyOf(directory.entries.keySet())) {
            Path child = path.resolve(name);
            if (filter.accept(child)) {
                found.add(child);
            }
        }
        return new DirectoryStream<>() {
            @Override
            public Iterator<Path> iterator() {
                return found.iterator();
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
        Place place = place(Kind.MAKE_DIRECTORY, path);
        if (place.node() != null) {
            throw new FileAlreadyExistsException(path.toString());
        }
        int mode = DiskAttributes.mode(0777, attributes);
        Node node = new Directory(mount.disk.nextInode(), place.directory().isTemporary, mode, mount.now());
        mount.disk.change(mount.now(), place.with(node));
    }

    @Override
    public void createLink(Path link, Path existing) throws IOException {
        mount.before(Kind.LINK, text(existing), text(link), 0);
        Node node = mount.disk.place(text(existing)).existing(existing.toString());
        Place place = mount.disk.place(text(link));
        if (place.node() != null) {
            throw new FileAlreadyExistsException(link.toString());
        }
        if (node instanceof Directory) {
            throw error(link.toString(), "Operation not permitted");
        }
        if (node.isTemporary != place.directory().isTemporary) {
            throw error(link.toString(), "Invalid cross-device link");
        }
        mount.disk.change(mount.now(), place.with(node));
    }

    @Override
    public void delete(Path path) throws IOException {
        Place place = place(Kind.DELETE, path);
        Node node = place.existing(path.toString());
        if (place.name().equals(".")) {
            throw error(path.toString(), "Invalid argument");
        }
        if (node instanceof Directory directory && !directory.entries.isEmpty()) {
            throw new DirectoryNotEmptyException(path.toString());
        }
        mount.disk.change(mount.now(), place.with(null));
    }

    /** Removes the target of a copy or of a move that is not atomic; false if both names refer to the same file. */
    private boolean clear(Path source, Path target, Set<CopyOption> options) throws IOException {
        Node from = node(Kind.STAT, source);
        Node to = mount.disk.place(text(target)).node();
        if (to != null && to != from) {
            if (!options.contains(StandardCopyOption.REPLACE_EXISTING)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            delete(target);
        }
        return to != from;
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) throws IOException {
        if (!clear(source, target, Set.of(options))) {
            return;
        }
        try (FileChannel from = newFileChannel(source, Set.of(StandardOpenOption.READ));
                FileChannel to =
                        newFileChannel(target, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW))) {
            ByteBuffer bytes = ByteBuffer.allocate(8192);
            while (from.read(bytes) >= 0) {
                for (bytes.flip(); bytes.hasRemaining(); ) {
                    to.write(bytes);
                }
                bytes.clear();
            }
        }
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
        boolean isAtomic = Arrays.asList(options).contains(StandardCopyOption.ATOMIC_MOVE);
        if (isAtomic || clear(source, target, Set.of(options))) {
            mount.before(Kind.RENAME, text(source), text(target), 0);
            Place from = mount.disk.place(text(source));
            Place to = mount.disk.place(text(target));
            if (from.name().equals(".") || to.name().equals(".")) {
                throw new FileSystemException(source.toString(), target.toString(), "Device or resource busy");
            }
            if (from.existing(source.toString()) != to.node()) {
                checkRename(from, to, source.toString(), target.toString());
                mount.disk.change(mount.now(), to.with(from.node()), from.with(null)); // it has a name at all times
            }
        }
    }

    private static void checkRename(Place from, Place to, String source, String target) throws IOException {
        if (from.directory().isTemporary != to.directory().isTemporary) {
            throw new AtomicMoveNotSupportedException(source, target, "Invalid cross-device link");
        }
        Node old = to.node();
        String reason = "";
        if (from.node() instanceof Directory moved && to.directories().contains(moved)) {
            reason = "Invalid argument";
        } else if (old instanceof Directory directory && from.directories().contains(directory)) {
            reason = "Directory not empty";
        } else if (old != null && from.node() instanceof Directory != old instanceof Directory) {
            reason = old instanceof Directory ? "Is a directory" : Place.NOT_A_DIRECTORY;
        } else if (old instanceof Directory directory && !directory.entries.isEmpty()) {
            reason = "Directory not empty";
        }
        if (!reason.isEmpty()) {
            throw new FileSystemException(source, target, reason);
        }
    }

    @Override
    public boolean isSameFile(Path one, Path other) throws IOException {
        return one.equals(other) || node(Kind.STAT, one) == node(Kind.STAT, other);
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
        node(Kind.STAT, path); // the driver runs as root: everything that exists may be read and written
    }

    @Override
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
            Path path, Class<V> type, LinkOption... options) {
        PosixFileAttributeView view = new Permissions(path);
        return type.isInstance(view) ? type.cast(view) : null;
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
            throws IOException {
        if (type != BasicFileAttributes.class) {
            throw DiskFileSystem.unsupported(type.getSimpleName());
        }
        return type.cast(DiskAttributes.of(node(Kind.STAT, path)));
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) throws IOException {
        DiskAttributes attributes = DiskAttributes.of(node(Kind.STAT, path));
        Map<String, Object> found = new TreeMap<>();
        for (String name : names.substring(names.indexOf(':') + 1).split(",")) {
            found.put(name, attributes.named(name));
        }
        return found;
    }

    @Override
    public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
        throw DiskFileSystem.unsupported("setAttribute");
    }

    @Override
    public boolean isHidden(Path path) {
        throw DiskFileSystem.unsupported("hidden files");
    }

    @Override
    public FileStore getFileStore(Path path) {
        throw DiskFileSystem.unsupported("file stores");
    }

    @Override
    public String getScheme() {
        return "sim";
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
        throw DiskFileSystem.unsupported("URIs");
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        throw DiskFileSystem.unsupported("URIs");
    }

    @Override
    public Path getPath(URI uri) {
        throw DiskFileSystem.unsupported("URIs");
    }

    /** The only attributes that can be set. */
    private final class Permissions implements PosixFileAttributeView {

        private final Path path;

        Permissions(Path path) {
            this.path = path;
        }

        @Override
        public void setPermissions(Set<PosixFilePermission> permissions) throws IOException {
            node(Kind.SET_PERMISSIONS, path).permissions = DiskAttributes.mode(permissions);
        }

        @Override
        public String name() {
            return "posix";
        }

        @Override
        public PosixFileAttributes readAttributes() {
            throw DiskFileSystem.unsupported("users");
        }

        @Override
        public void setTimes(@Nullable FileTime modified, @Nullable FileTime accessed, @Nullable FileTime created) {
            throw DiskFileSystem.unsupported("setTimes");
        }

        @Override
        public void setGroup(GroupPrincipal group) {
            throw DiskFileSystem.unsupported("users");
        }

        @Override
        public UserPrincipal getOwner() {
            throw DiskFileSystem.unsupported("users");
        }

        @Override
        public void setOwner(UserPrincipal owner) {
            throw DiskFileSystem.unsupported("users");
        }
    }
}
