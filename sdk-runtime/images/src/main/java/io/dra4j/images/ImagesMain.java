// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The program that the build runs: it writes all archives, and prints their sizes. */
public final class ImagesMain {

    private static final double MEGABYTE = 1_000_000;

    private ImagesMain() {}

    /**
     * Builds all images.
     *
     * @param args the settings, as the module's pom.xml gives them
     */
    public static void main(String[] args) throws IOException {
        try {
            Inputs inputs = Inputs.of(args);
            ImageBuild build = ImageBuild.begin(inputs);
            Folders.remove(inputs.images());
            for (Image image : Image.IMAGES) {
                Path archive = build.write(image);
                System.out.printf("%s: %.1f MB%n", archive.getFileName(), Files.size(archive) / MEGABYTE);
            }
        } catch (ImageBuildException e) {
            System.err.println("The images cannot be built. " + e.getMessage());
            System.exit(1);
        }
    }
}
