// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Identity, size and time of a file, which change when it is written or replaced.
 *
 * <p>Reading it each second costs less than a watch, which takes one of the kernel's few inotify
 * instances, and does not work on all file systems.
 */
public record FileStamp(String text) {

    /** Returns the stamp of a path's target, following links; a distinct one if it does not exist. */
    public static FileStamp of(Path file) {
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            return new FileStamp(now.fileKey() + " " + now.size() + " "
                    + now.lastModifiedTime().toInstant());
        } catch (IOException e) {
            return new FileStamp("none: " + e.getClass().getSimpleName());
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        // A record's own costs the start of a driver some milliseconds.
        return other instanceof FileStamp that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}
