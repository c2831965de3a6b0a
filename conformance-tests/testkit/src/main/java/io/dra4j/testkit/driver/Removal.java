// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Deletes a directory tree as far as it can; files that disappear meanwhile are not an error. */
final class Removal extends SimpleFileVisitor<Path> {
    private @Nullable IOException first;

    /** Removes a directory and everything below it; returns leftovers and the reason, as a sentence. */
    static Optional<String> of(Path folder) {
        Removal removal = new Removal();
        try {
            Files.walkFileTree(folder, removal);
        } catch (IOException e) {
            removal.failed(e);
        }
        return removal.complaint(folder);
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        return delete(file);
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException problem) {
        return failed(problem);
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException problem) {
        return problem == null ? delete(folder) : failed(problem);
    }

    private FileVisitResult delete(Path path) {
        try {
            Files.deleteIfExists(path);
            return FileVisitResult.CONTINUE;
        } catch (IOException e) {
            return failed(e);
        }
    }

    FileVisitResult failed(IOException problem) {
        if (first == null && !(problem instanceof NoSuchFileException)) {
            first = problem;
        }
        return FileVisitResult.CONTINUE;
    }

    Optional<String> complaint(Path root) {
        String words = "The directory %s of this run could not be removed (%s); remove it by hand";
        return Optional.ofNullable(first).map(problem -> words.formatted(root, problem));
    }
}
