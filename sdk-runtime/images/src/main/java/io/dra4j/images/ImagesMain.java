// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The program that a build runs: it writes archives of images, and prints their paths and sizes. */
public final class ImagesMain {

    private static final double MEGABYTE = 1_000_000;

    private ImagesMain() {}

    /** Builds the image of the driver whose jar is given in the settings, or all images of this repository. */
    public static void main(String[] args) throws IOException {
        Inputs inputs = Inputs.of(args);
        if (inputs.jar().isEmpty()) {
            Folders.remove(inputs.images());
        }
        Map<Image, List<Path>> archives = new LinkedHashMap<>();
        for (Machine machine : inputs.architectures()) {
            ImageBuild build = new ImageBuild(inputs, machine);
            for (Image image : build.images()) {
                Path archive = build.write(image);
                archives.computeIfAbsent(image, first -> new ArrayList<>()).add(archive);
                print(archive);
            }
            if (!machine.equals(Machine.current()) && inputs.given("emulator").isEmpty()) {
                System.out.printf(
                        "Images for %s have no AOT cache, and start more slowly: -Dimage.emulator names no program that runs their JVM%n",
                        machine.architecture());
            }
        }
        for (Map.Entry<Image, List<Path>> entry : archives.entrySet()) {
            if (entry.getValue().size() > 1) {
                String name = entry.getKey().name();
                Path file = inputs.images().resolve(name + "-" + inputs.version() + ".tar");
                print(OciIndex.write(
                        entry.getValue(), file, "localhost/" + name + ":" + inputs.version(), inputs.time()));
            }
        }
    }

    private static void print(Path archive) throws IOException {
        System.out.printf("%s: %.1f MB%n", archive, Files.size(archive) / MEGABYTE);
    }
}
