// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the firmware of a driver's version, in the folders and in the order of the kernel. */
final class FirmwareSearch {

    private final List<Path> folders;

    FirmwareSearch(Roots roots, String version) {
        Path root = roots.here();
        List<Path> all = new ArrayList<>();
        text(roots.sysfs().resolve("module/firmware_class/parameters/path"))
                .map(Path::of)
                .filter(Path::isAbsolute)
                .map(roots::ofNode)
                .ifPresent(all::add);
        Optional<String> release = text(roots.proc().resolve("sys/kernel/osrelease"));
        for (String folder : List.of("lib/firmware/updates", "lib/firmware", "usr/lib/firmware")) {
            release.ifPresent(name -> all.add(root.resolve(folder).resolve(name)));
            all.add(root.resolve(folder));
        }
        folders = all.stream()
                .map(each -> each.resolve("nvidia").resolve(version))
                .toList();
    }

    /** A file of the kernel that is absent says nothing. */
    private static Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the searched folders, which need not exist. */
    List<Path> folders() {
        return folders;
    }

    /** Returns the files of the first folder that has some. */
    List<Path> find() {
        return folders.stream()
                .map(folder -> Listing.files(folder, "gsp*.bin"))
                .filter(files -> !files.isEmpty())
                .findFirst()
                .orElse(List.of());
    }
}
