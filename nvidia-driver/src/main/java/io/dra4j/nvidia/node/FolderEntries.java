// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The entries of a folder whose names have a form, sorted; none if there is no such folder. */
public final class FolderEntries {

    private FolderEntries() {}

    /** Returns the regular files below a driver root, and the links to regular files. */
    static List<Path> files(DriverView driver, Path folder, String form) {
        return in(driver, folder, form).filter(driver::isFile).toList();
    }

    /** Returns the links below a driver root, with or without an existing target. */
    static List<Path> links(DriverView driver, Path folder, String form) {
        return in(driver, folder, form).filter(driver::isLink).toList();
    }

    private static Stream<Path> in(DriverView driver, Path folder, String form) {
        Path end = driver.end(folder);
        return of(end, form).map(file -> folder.resolve(end.relativize(file)));
    }

    public static Stream<Path> of(Path folder, String form) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, form)) {
            List<Path> files = new ArrayList<>();
            found.forEach(files::add);
            return files.stream().sorted();
        } catch (NotDirectoryException | NoSuchFileException e) {
            return Stream.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new PrepareException("Can't list " + folder, e);
        }
    }
}
