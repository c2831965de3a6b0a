// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files of a layer, laid out as in the image below a folder of the build machine.
 *
 * <p>All have the same time, are readable by all and writable only by their owner. Links are not used, because Jib's
 * images have none.
 *
 * @param root the folder that stands for an image's root
 */
record Stage(String name, Path root, Instant time) {

    private static final Set<PosixFilePermission> PROGRAM = PosixFilePermissions.fromString("rwxr-xr-x");
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-r--r--");

    /** Begins a stage in an empty folder. */
    static Stage at(Path folder, String name, Instant time) {
        Path root = folder.resolve(name);
        Folders.remove(root);
        Folders.make(root);
        return new Stage(name, root, time);
    }

    /** The file of the build machine that stands for a path of an image. */
    Path file(String path) {
        return root.resolve(path.substring(1));
    }

    /** Copies a file, or what a link points to. */
    void copy(Path source, String path) {
        try {
            Folders.make(file(path).getParent());
            Files.copy(source, file(path), StandardCopyOption.REPLACE_EXISTING);
            finish(path, Files.isExecutable(source));
        } catch (IOException e) {
            throw new ImageBuildException("Can't copy " + source + ": " + e, e);
        }
    }

    void copyTree(Path source, String path) {
        try (Stream<Path> files = Files.walk(source)) {
            for (Path file : files.filter(file -> !Files.isDirectory(file)).toList()) {
                copy(file, path + "/" + source.relativize(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(String path, byte[] content, boolean executable) {
        try {
            Folders.make(file(path).getParent());
            Files.write(file(path), content);
            finish(path, executable);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void finish(String path, boolean executable) throws IOException {
        Files.setPosixFilePermissions(file(path), executable ? PROGRAM : FILE);
        Files.setLastModifiedTime(file(path), FileTime.from(time));
    }

    FileEntriesLayer layer() {
        FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName(name);
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted().toList()) {
                if (Files.isDirectory(file)) {
                    continue;
                }
                layer.addEntry(
                        file,
                        AbsoluteUnixPath.get("/" + root.relativize(file)),
                        FilePermissions.fromPosixFilePermissions(Files.getPosixFilePermissions(file)),
                        time);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return layer.build();
    }
}
