// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Files of a driver that may still change them: those that a setting names by a glob, which may have names in braces
 * and whose paths are as the driver sees them, and all below a directory.
 */
public final class Globs {

    private Globs() {}

    static String onHost(TestContext context, String setting) {
        return context.place().outside(Path.of(context.place().fill(setting))).toString();
    }

    /** Returns the files and directories that match now; nothing if the directory does not exist. */
    static List<Path> matching(TestContext context, String setting) {
        String glob = onHost(context, setting);
        return below(top(glob), FileSystems.getDefault().getPathMatcher("glob:" + glob));
    }

    /** Returns a directory and everything below it now, sorted; nothing if it does not exist. */
    public static List<Path> below(Path top) {
        return below(top, any -> true);
    }

    static List<Path> below(Path top, PathMatcher matcher) {
        if (!Files.isDirectory(top)) {
            return List.of();
        }
        Search search = new Search(matcher);
        try {
            Files.walkFileTree(top, search);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't look into " + top, e);
        }
        Collections.sort(search.found);
        return search.found;
    }

    /** The deepest directory that is named without a wildcard. */
    private static Path top(String glob) {
        int wildcard = glob.replaceAll("[*?\\[{]", "*").indexOf('*');
        Path fixed = Path.of(wildcard < 0 ? glob : glob.substring(0, wildcard) + "x");
        Path parent = fixed.toAbsolutePath().getParent();
        return parent == null ? fixed : parent;
    }

    /** Collects what matches; the driver may remove files meanwhile. */
    private static final class Search extends SimpleFileVisitor<Path> {
        private final PathMatcher matcher;
        private final List<Path> found = new ArrayList<>();

        Search(PathMatcher matcher) {
            this.matcher = matcher;
        }

        private FileVisitResult visit(Path path) {
            if (matcher.matches(path)) {
                found.add(path);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return visit(folder);
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            return visit(file);
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException problem) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException problem) {
            return FileVisitResult.CONTINUE;
        }
    }
}
