// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The files below a driver root at one time: each entry is read once, although most paths have the same folders.
 *
 * <p>Not thread-safe; for one search.
 */
public final class DriverView {

    private static final int MOST_LINKS = 40;

    private final DriverRoot root;
    private final Map<Path, Optional<BasicFileAttributes>> entries = new HashMap<>();
    private final Map<Path, Path> ends = new HashMap<>();

    public DriverView(DriverRoot root) {
        this.root = root;
        ends.put(root.here(), root.here()); // even if it is itself a link
        entries.put(root.here(), read(root.here()));
    }

    DriverRoot root() {
        return root;
    }

    /** Returns the path on the node of a file below the root, at the end of all links. */
    public Path onNode(Path found) {
        return root.onNode().resolve(root.here().relativize(end(found)));
    }

    /** Returns whether all links end at a regular file: engines create folders for missing files. */
    public boolean isFile(Path file) {
        return entry(end(file)).filter(BasicFileAttributes::isRegularFile).isPresent();
    }

    /** Returns when a folder's entries have changed last, in nanoseconds since 1970; {@code none} if there is no such folder. */
    public String time(Path folder) {
        return entry(end(folder))
                .map(one -> one.lastModifiedTime().to(NANOSECONDS) + "")
                .orElse("none");
    }

    boolean isLink(Path file) {
        return target(place(file)) != null;
    }

    /** Returns the target of a link below the root. */
    Path targetOf(Path link) {
        Path target = written(link);
        return target.isAbsolute() ? root.ofNode(target) : link.resolveSibling(target);
    }

    /** Returns the target of a link as written; its name if the link no longer exists. */
    Path written(Path link) {
        return Objects.requireNonNullElse(target(place(link)), link.getFileName());
    }

    private Path place(Path file) {
        return end(file.getParent()).resolve(file.getFileName());
    }

    /** Returns the path at the end of all links, including links to folders; no link leads out of the root. */
    public Path end(Path file) {
        Path known = ends.get(file);
        if (known == null) {
            known = find(file);
            ends.put(file, known);
        }
        return known;
    }

    private Path find(Path file) {
        Path here = root.here();
        boolean isBelow = file.getNameCount() > here.getNameCount() && file.startsWith(here);
        Path end = isBelow ? end(file.getParent()) : here;
        Deque<Path> names = new ArrayDeque<>();
        push(isBelow ? file.getFileName() : here.relativize(file), names);
        int links = 0;
        while (!names.isEmpty()) {
            Path next = step(end, names.pop());
            Path target = target(next);
            if (target == null) {
                end = next;
            } else if (++links > MOST_LINKS) {
                return file; // the links form a cycle
            } else {
                push(target.isAbsolute() ? here.relativize(root.ofNode(target)) : target, names);
                end = target.isAbsolute() ? here : end;
            }
        }
        return end;
    }

    private static void push(Path path, Deque<Path> names) {
        for (int i = path.getNameCount() - 1; i >= 0; i--) {
            names.push(path.getName(i));
        }
    }

    private Path step(Path from, Path name) {
        return switch (name.toString()) {
            case "", "." -> from;
            case ".." -> from.equals(root.here()) ? from : from.getParent();
            default -> from.resolve(name);
        };
    }

    private @Nullable Path target(Path link) {
        try {
            boolean isLink =
                    entry(link).filter(BasicFileAttributes::isSymbolicLink).isPresent();
            return isLink ? Files.readSymbolicLink(link) : null;
        } catch (IOException e) {
            return null; // it was removed meanwhile
        }
    }

    private Optional<BasicFileAttributes> entry(Path file) {
        Optional<BasicFileAttributes> known = entries.get(file);
        if (known == null) {
            // A missing folder has no entries, and each exception that says so takes time.
            Optional<BasicFileAttributes> parent = entries.get(file.getParent());
            known = parent != null && parent.isEmpty() ? parent : read(file, LinkOption.NOFOLLOW_LINKS);
            entries.put(file, known);
        }
        return known;
    }

    private static Optional<BasicFileAttributes> read(Path file, LinkOption... options) {
        try {
            return Optional.of(Files.readAttributes(file, BasicFileAttributes.class, options));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
