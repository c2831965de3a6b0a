// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.testkit.driver.MountNamespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The archives that the build of this module has written. */
final class Built {

    private static final Path FOLDER = Path.of("target/images").toAbsolutePath();

    /** Debian's, which only tests need. */
    private static final String EMULATOR = "/usr/bin/qemu-aarch64-static";

    private Built() {}

    /** The archive of an image, for this machine. */
    static Path archive(Image image) {
        return archive(image, Machine.current());
    }

    /** The archive of an image. */
    static Path archive(Image image, Machine machine) {
        List<Path> found = new ArrayList<>();
        String names = image.name() + "-*-" + machine.architecture() + ".tar";
        try (DirectoryStream<Path> all = Files.newDirectoryStream(FOLDER, names)) {
            all.forEach(found::add);
        } catch (IOException e) {
            throw new UncheckedIOException("The images are not built", e);
        }
        assertThat(found).as("archives of " + image.name()).hasSize(1);
        return found.get(0);
    }

    /** The list of parts next to an archive. */
    static Path sbom(Image image) {
        Path archive = archive(image);
        return archive.resolveSibling(archive.getFileName().toString().replaceFirst("tar$", "cdx.json"));
    }

    /** The settings of the build, except the folder that it writes to and some others. */
    static Inputs inputs(Path target, String... others) {
        List<String> words = new ArrayList<>(List.of("--target=" + target));
        for (String name : List.of("repository", "version", "time", "jdk", "base")) {
            words.add("--" + name + "=" + System.getProperty("image." + name));
        }
        words.addAll(List.of(others));
        return Inputs.of(words.toArray(String[]::new));
    }

    /** The architecture whose images drivers are run in: this machine's, or one that is emulated. */
    static Machine machine() {
        String tested = System.getProperty("image.tested", "");
        return tested.isEmpty() ? Machine.current() : Machine.named(tested);
    }

    /** Unpacks a driver's image, whose programs an emulator runs if they are not for this machine. */
    static Container driver(Image image, Path folder) throws IOException {
        assumeContainers();
        Container container = Container.unpack(archive(image, machine()), folder);
        return machine().equals(Machine.current()) ? container : container.emulated(Path.of(EMULATOR));
    }

    /** Skips a test, with the reason, if processes can't have their own root. */
    static void assumeContainers() {
        String missing = MountNamespace.missing();
        if (!missing.isEmpty()) {
            System.out.println("SKIPPED: programs of images can't be run here: " + missing);
        }
        assumeTrue(missing.isEmpty(), missing);
    }
}
