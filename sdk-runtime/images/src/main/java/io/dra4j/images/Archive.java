// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.google.cloud.tools.jib.api.CacheDirectoryCreationException;
import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.RegistryException;
import com.google.cloud.tools.jib.api.TarImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;

/** Writes an image as an archive. */
final class Archive {

    private Archive() {}

    /** Writes an archive under a name; compressed layers are cached. */
    static void write(JibContainerBuilder image, Path file, String name, Path cache) {
        try {
            image.containerize(Containerizer.to(TarImage.at(file).named(name))
                    .setBaseImageLayersCache(cache.resolve("base"))
                    .setApplicationLayersCache(cache.resolve("layers"))
                    .setToolName("dra4j-images"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageBuildException("Interrupted while " + file + " was written", e);
        } catch (IOException
                | RegistryException
                | CacheDirectoryCreationException
                | InvalidImageReferenceException
                | ExecutionException e) {
            throw new ImageBuildException("Can't write " + file + ": " + e.getMessage(), e);
        }
    }
}
