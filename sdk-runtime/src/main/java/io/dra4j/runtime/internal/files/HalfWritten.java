// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.files;

import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Files that a process was about to rename when it was killed. */
public final class HalfWritten {

    private static final Logger LOG = LoggerFactory.getLogger(HalfWritten.class);
    private static final Duration LONGEST_WRITE = Duration.ofMinutes(10);

    private HalfWritten() {}

    /**
     * Removes such files from a directory, if there is one; failures are logged, since the files are never read.
     *
     * <p>A recent one stays: another process of the driver may be about to rename it, during an update.
     *
     * @param pattern a glob of their names
     */
    public static void remove(Path directory, String pattern) {
        Instant young = InstantSource.system().instant().minus(LONGEST_WRITE); // file times follow this clock
        try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, pattern)) {
            for (Path file : left) {
                removeUnlessYoung(file, young);
            }
        } catch (IOException | DirectoryIteratorException e) {
            log(directory, e);
        }
    }

    private static void removeUnlessYoung(Path file, Instant young) {
        try {
            if (Files.getLastModifiedTime(file).toInstant().isBefore(young)) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            log(file, e);
        }
    }

    private static void log(Path path, Exception e) {
        LOG.atLevel(e instanceof NoSuchFileException ? Level.TRACE : Level.WARN) // never written, or renamed by now
                .addKeyValue(LogField.PATH, path)
                .setCause(e)
                .log("Half-written files of an earlier run could not be removed");
    }
}
